"""Generate: rows made per row, by `explode` and its like."""

from headwater.model.relation import Call, Computed, Element, Expression, Generate, GetField, Literal, OneOf
from headwater.spark.plan.expressions import Scope, lower_expression
from headwater.spark.plan.lowering import Lowered, Lowering, lowers
from headwater.spark.plan.node import Encoded, Node


@lowers("Generate")
def lower_generate(lowering: Lowering, node: Node, below: tuple[Lowered, ...]) -> Lowered:
    generator = node.get("generator")
    while isinstance(generator, list) and generator[0] == "GeneratorOuter":
        generator = generator[2]
    ids = [id for id in node.get("generatorOutput") or () if isinstance(id, int)]
    values = _values(lowering, generator, len(ids), below[0].renamed)
    span = lowering.places.span(node.origin, generator)
    columns = [Computed(lowering.attribute(id), value, span) for id, value in zip(ids, values)]
    expanded = _expanded(lowering, generator, below[0].renamed)
    return Lowered(Generate(below[0].relation, tuple(columns), expanded), below[0].renamed)


def _expanded(lowering: Lowering, generator: Encoded, scope: Scope) -> tuple[Expression, ...]:
    """The collections whose length is the number of rows; `stack` and `json_tuple` make a fixed number."""
    if not isinstance(generator, list) or generator[0] in ("Stack", "JsonTuple"):
        return ()
    operands = [each for each in generator[2:] if not isinstance(each, dict) or "text" in each]
    return tuple(lower_expression(lowering, each, scope) for each in operands)


def _values(lowering: Lowering, generator: Encoded, width: int, scope: Scope) -> list[Expression]:
    """The value of each generated column."""
    if not isinstance(generator, list):
        return [Literal()] * width
    kind, name, *operands = generator
    more = operands.pop() if operands and isinstance(operands[-1], dict) and "text" not in operands[-1] else {}
    args = [lower_expression(lowering, each, scope) for each in operands]
    match kind:
        case "Explode":
            return [Element(args[0])] * width
        case "PosExplode":
            return [Literal(), *[Element(args[0])] * (width - 1)]
        case "Inline":
            return [GetField(Element(args[0]), field) for field in more["fields"]]
        case "Stack":
            return [OneOf(tuple(args[1:][at::width])) for at in range(width)]
        case "JsonTuple":
            names = [each["text"] if isinstance(each, dict) else "?" for each in operands[1:]]
            return [Call("json_extract", (GetField(args[0], each),)) for each in names]
        case "VariantExplode":
            return [Literal(), Call("variant_explode", (args[0],)), Element(args[0])]
        case _:
            reason = f"the body of `{name}` is not read" if more.get("opaque") else None
            return [Call(f"udf {name}" if reason else name.lower(), tuple(args), opaque=reason)] * width
