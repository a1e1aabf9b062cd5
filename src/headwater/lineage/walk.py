"""Walks over expressions that must see every part of them, without recursion."""

from collections.abc import Iterator

from headwater.model import relation as rel


def children(expression: rel.Expression) -> Iterator[rel.Expression]:
    """The expressions directly inside one; the inside of a subquery's relation does not count."""
    match expression:
        case rel.Call(_, args, _, order, condition):
            yield from args
            yield from order
            if condition is not None:
                yield condition
        case rel.Case(branches, default, operand):
            for pair in branches:
                yield from pair
            yield from (each for each in (default, operand) if each is not None)
        case rel.Window(function, keys):
            yield function
            yield from keys
        case rel.MakeStruct(fields):
            yield from (value for _, value in fields)
        case rel.MakeArray(items):
            yield from items
        case rel.OneOf(options):
            yield from options
        case rel.GetField(operand):
            yield operand
        case rel.Element(operand, index):
            yield from (each for each in (operand, index) if each is not None)
        case rel.Let(bindings, body):
            yield from (binding.expression for binding in bindings)
            yield body
        case rel.Subquery(_, _, _, operand):
            if operand is not None:
                yield operand
        case _:
            return


def parts_of(expression: rel.Expression) -> Iterator[rel.Expression]:
    """An expression and everything inside it."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, rel.Ref):
            stack.extend(children(node))


def subqueries_of(expression: rel.Expression) -> Iterator[rel.Subquery]:
    """The subqueries inside an expression, not those inside their relations."""
    return (part for part in parts_of(expression) if isinstance(part, rel.Subquery))
