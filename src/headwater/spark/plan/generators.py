"""Generate: rows made per row, by `explode` and its like."""

from headwater.model import relation as rel
from headwater.spark.plan.expressions import Scope, lower_expression
from headwater.spark.plan.lowering import LoweredNode, PlanLowering, lowers
from headwater.spark.plan.node import Encoded, PlanNode


@lowers("Generate")
def lower_generate(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    generator = node.get("generator")
    while isinstance(generator, list) and generator[0] == "GeneratorOuter":
        generator = generator[2]
    ids = [id for id in node.get("generatorOutput") or () if isinstance(id, int)]
    values = _values(lowering, generator, len(ids), below[0].renamed)
    span = lowering.places.span(node.origin, generator)
    columns = [rel.Computed(lowering.attribute(id), value, span) for id, value in zip(ids, values)]
    expanded = _expanded(lowering, generator, below[0].renamed)
    return LoweredNode(rel.Generate(below[0].relation, tuple(columns), expanded), below[0].renamed)


def _expanded(lowering: PlanLowering, generator: Encoded, scope: Scope) -> tuple[rel.Expression, ...]:
    """The collections whose length is the number of rows; `stack` and `json_tuple` make a fixed number."""
    if not isinstance(generator, list) or generator[0] in ("Stack", "JsonTuple"):
        return ()
    operands = [each for each in generator[2:] if not isinstance(each, dict) or "text" in each]
    return tuple(lower_expression(lowering, each, scope) for each in operands)


def _values(lowering: PlanLowering, generator: Encoded, width: int, scope: Scope) -> list[rel.Expression]:
    """The value of each generated column."""
    if not isinstance(generator, list):
        return [rel.Literal()] * width
    kind, name, *operands = generator
    more = operands.pop() if operands and isinstance(operands[-1], dict) and "text" not in operands[-1] else {}
    args = [lower_expression(lowering, each, scope) for each in operands]
    match kind:
        case "Explode":
            return [rel.Element(args[0])] * width
        case "PosExplode":
            fixed = isinstance(args[0], rel.MakeArray)  # every item has its place, whatever the values are
            place = rel.Literal() if fixed else rel.Call("posexplode", (args[0],))
            return [place, *[rel.Element(args[0])] * (width - 1)]
        case "Inline":
            return [rel.GetField(rel.Element(args[0]), field) for field in more["fields"]]
        case "Stack":
            return [rel.OneOf(tuple(args[1:][at::width])) for at in range(width)]
        case "JsonTuple":
            names = [each["text"] if isinstance(each, dict) else "?" for each in operands[1:]]
            return [rel.Call("json_extract", (rel.GetField(args[0], each),)) for each in names]
        case "VariantExplode":
            return [rel.Literal(), rel.Call("variant_explode", (args[0],)), rel.Element(args[0])]
        case _:
            reason = f"the body of `{name}` is not read" if more.get("opaque") else None
            return [rel.Call(f"udf {name}" if reason else name.lower(), tuple(args), opaque=reason)] * width
