"""Walks over expressions that must see every part of them, without recursion."""

from collections.abc import Iterator

from headwater.model.relation import (
    Call,
    Case,
    Element,
    Expression,
    GetField,
    Let,
    MakeArray,
    MakeStruct,
    OneOf,
    Ref,
    Subquery,
    Window,
)


def children(expression: Expression) -> Iterator[Expression]:
    """The expressions directly inside one; the inside of a subquery's relation does not count."""
    match expression:
        case Call(_, args, _, order, condition):
            yield from args
            yield from order
            if condition is not None:
                yield condition
        case Case(branches, default, operand):
            for pair in branches:
                yield from pair
            yield from (each for each in (default, operand) if each is not None)
        case Window(function, keys):
            yield function
            yield from keys
        case MakeStruct(fields):
            yield from (value for _, value in fields)
        case MakeArray(items):
            yield from items
        case OneOf(options):
            yield from options
        case GetField(operand):
            yield operand
        case Element(operand, index):
            yield from (each for each in (operand, index) if each is not None)
        case Let(bindings, body):
            yield from (binding.expression for binding in bindings)
            yield body
        case Subquery(_, _, _, operand):
            if operand is not None:
                yield operand
        case _:
            return


def parts_of(expression: Expression) -> Iterator[Expression]:
    """An expression and everything inside it."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, Ref):
            stack.extend(children(node))


def subqueries_of(expression: Expression) -> Iterator[Subquery]:
    """The subqueries inside an expression, not those inside their relations."""
    return (part for part in parts_of(expression) if isinstance(part, Subquery))
