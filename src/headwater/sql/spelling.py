"""Names as a dialect compares them, and the parts of dotted ones."""

from collections.abc import Callable, Iterable
from typing import Any

from sqlglot import exp

from headwater.model.names import Case


def flatten_dots(node: Any) -> Iterable[Any]:
    """The parts of a dotted name that the parser nested."""
    if node is None:
        return ()
    if isinstance(node, exp.Dot):
        return (*flatten_dots(node.this), *flatten_dots(node.expression))
    return (node,)


FOLDS: dict[Case, Callable[[str, Any], str]] = {
    Case.INSENSITIVE: lambda name, quoted: name.lower(),
    Case.EXACT: lambda name, quoted: name,
    Case.LOWER: lambda name, quoted: name if quoted else name.lower(),
    Case.UPPER: lambda name, quoted: name if quoted else name.upper(),
}
