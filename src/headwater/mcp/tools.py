"""Tools: functions of a service, a typed question and a page, as assistants see them.
`@tool(few=50)` makes a function one. Its question is a msgspec struct, mostly one of the HTTP API; the arguments of
the tool are its fields, with `as_of` for `at`, and those of `Page`. Its docstring is what an assistant is told."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta

from headwater.errors import UsageError
from headwater.mcp.answers import ToolAnswer
from headwater.server.openapi import inlined
from headwater.server.service import Service

_MOMENT = "as_of"
_MOST = 20_000  # items of one answer


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of an answer that is asked for."""

    offset: Annotated[
        int, Meta(ge=0, le=10_000_000, description="items to pass over: `next_offset` of an answer")
    ] = 0
    limit: Annotated[int, Meta(ge=1, le=_MOST, description="items to tell")] = 0
    longest: Annotated[int, Meta(ge=20, le=200_000, description="characters of one text; longer ones are cut")] = 300


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: `few` items are told when no limit is asked for, `most` at the most; 0: the answer has no pages."""

    function: Callable[[Service, Any, Page], ToolAnswer]
    question: type[msgspec.Struct]
    few: int
    most: int
    writes: bool

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def about(self) -> str:
        return " ".join((self.function.__doc__ or "").split())

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        asked, paged = _schema(self.question), _schema(Page)["properties"]
        properties = {_argument(name): schema for name, schema in asked.get("properties", {}).items()}
        if not self.few:
            paged = {"longest": paged["longest"]}
        else:
            paged["limit"] |= {"default": self.few, "maximum": self.most}
        required = [_argument(name) for name in asked.get("required", [])]
        known = {"type": "object", "properties": properties | paged, "additionalProperties": False}
        return known | ({"required": required} if required else {})

    def answer(self, service: Service, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a call with some arguments finds. RAISES: UsageError for arguments that do not fit."""
        names = {"offset", "limit", "longest"} if self.few else {"longest"}
        asked = {name: value for name, value in arguments.items() if name not in names}
        if "at" in asked:
            raise UsageError("there is no argument `at`", hint=f"the moment is called `{_MOMENT}`")
        try:
            page = msgspec.convert(
                {"limit": self.few or 1, **{n: arguments[n] for n in names & set(arguments)}}, Page
            )
            renamed = {"at" if name == _MOMENT else name: value for name, value in asked.items()}
            question = msgspec.convert(renamed, self.question)
        except (msgspec.ValidationError, RecursionError, OverflowError) as err:
            known = ", ".join(self.schema["properties"])
            raise UsageError(f"the arguments do not fit: {err}", hint=f"arguments of `{self.name}`: {known}") from err
        if self.few and page.limit > self.most:
            raise UsageError(f"a limit of {page.limit:,} is too high", hint=f"up to {self.most:,}; `offset` goes on")
        return self.function(service, question, page).to_json(page.longest)


def _schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    _, parts = msgspec.json.schema_components([kind])
    found: dict[str, Any] = inlined(parts[kind.__name__], parts)
    return found


def _argument(name: str) -> str:
    return _MOMENT if name == "at" else name


def tool(*, few: int = 0, most: int = _MOST, writes: bool = False) -> Callable[[Callable[..., ToolAnswer]], Tool]:
    """Make a function of a service, a question and a page a tool."""

    def made(function: Callable[..., ToolAnswer]) -> Tool:
        hints = get_type_hints(function, include_extras=True)
        question = next(type for name, type in hints.items() if name not in ("service", "page", "return"))
        return Tool(function, question, few, most, writes)

    return made
