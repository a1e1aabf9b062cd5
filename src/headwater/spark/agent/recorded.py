"""Objects of Spark that a listener in Java has written down (`Recorder.java`), asked as if they were there.

An object is a mapping: `class` is its class, every other name a method without arguments and its answer. Beside these
`described` is a table as `PlanDump.describe` writes it, `entries` are those of a map, `items` those of a list, and an
answer `{"by": {argument: answer}}` depends on the argument of the method. What was not written down raises, so the
visitor that asks for it fails and the event says what is missing.
"""

from typing import Any

import msgspec
from py4j.protocol import Py4JError


class NotRecordedError(Py4JError, AttributeError):  # type: ignore[misc]
    """The listener did not write this down."""


class Recorded:
    """One object."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.value:
            kind = str(self.value.get("class", "it")).rpartition(".")[2]
            raise NotRecordedError(f"`{kind}.{name}` was not written down by the listener")
        return lambda *given: _answer(self.value[name], *given)

    def getClass(self) -> Any:  # noqa: N802 - names are Java's
        return Recorded({"getName": self.value["class"], "getSuperclass": self.value.get("superclass")})

    def get(self, *key: Any) -> Any:
        """The entry of a map, or what an Option holds."""
        if "entries" not in self.value:
            return _answer(self.value.get("get"), *key)
        found = self.value["entries"].get(key[0])
        return Recorded({"class": "scala.Some", "get": found, "isDefined": found is not None})

    def items(self) -> Any:
        return self.value["entries"].items()

    def members(self) -> list[Any]:
        """The members of a list, or the pairs of a map."""
        pairs = [{"_1": name, "_2": value} for name, value in self.value.get("entries", {}).items()]
        return [_answer(each) for each in self.value.get("items", pairs)]


def _answer(value: Any, *given: Any) -> Any:
    if isinstance(value, list):
        return [_answer(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("echo"):
        return given[0]
    if "by" in value:
        if given[0] not in value["by"] and len(given) < 2:
            raise NotRecordedError(f"`{given[0]}` was not written down by the listener")
        return _answer(value["by"].get(given[0], given[-1] if len(given) > 1 else None))
    return Recorded(value)


class RecordedExecution:
    """A QueryExecution that was written down; after its end, its objects are as they were then."""

    def __init__(self, session: dict[str, Any]) -> None:
        self.note: dict[str, Any] = {}
        self.session = session  # shared by the executions of a run, and kept by who has asked for it

    def take(self, note: dict[str, Any]) -> "RecordedExecution":
        self.note = self.note | note
        self.session.clear()
        self.session.update(self.note.get("session", {}))
        return self

    @property
    def is_known(self) -> bool:
        """Return whether the listener saw it; Spark lets go of one that ends at once."""
        return "plan" in self.note or "failed" in self.note

    def analyzed(self) -> "RecordedExecution":
        if "plan" not in self.note:
            raise NotRecordedError(str(self.note.get("failed", "the plan was not written down by the listener")))
        return self

    def dump(self) -> tuple[bytes, Any]:
        """The dump of the plan, and what gives the object behind the number of a node."""
        return msgspec.json.encode(self.note["plan"]), lambda at: Recorded(self.note["live"].get(str(at), {}))

    def sparkSession(self) -> Recorded:  # noqa: N802 - the name is Spark's
        return Recorded(self.session)
