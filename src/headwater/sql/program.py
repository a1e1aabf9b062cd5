"""A script as it runs: its variables, routines and cursors, and the statements that its executed strings hold.
Statements are cut, entered and lowered in order; an executed string, and the body of a routine that is called, are
statements in the place of the one that runs them, with variables of their own."""

import dataclasses
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlglot import exp

from headwater.sql.blocks import enter_blocks
from headwater.sql.declarations import read_command
from headwater.sql.dialects import MICROSOFT, MYSQL
from headwater.sql.evaluation import Evaluation
from headwater.sql.executed import (
    Argument,
    Bound,
    Executed,
    ExecutedText,
    ProcedureCall,
    bind,
    given_back,
    hole_name,
    read_bound,
    read_call,
    read_executed,
    read_prepared,
    set_on_the_way,
    variable_of,
    with_named_holes,
    without_holes,
    worst_hole,
)
from headwater.sql.given_functions import noted
from headwater.sql.loops import enter_loop, in_loop
from headwater.sql.lowering import Lowering, Node
from headwater.sql.query_functions import QueryFunctions
from headwater.sql.routines import Code, Routine, Trigger, functions_for_triggers, functions_of_triggers, read_routine
from headwater.sql.split import Piece, opaque_piece, parse_piece, split_statements
from headwater.sql.texts import NULL, Texts, inlined, is_hole, reads
from headwater.sql.tokens import as_query
from headwater.sql.triggers import row_of
from headwater.text import Source

_UNBOUND = "`NEW` and `OLD` are rows of the table of a trigger, and no CREATE TRIGGER here calls the function"
_BARE_VARIABLES = frozenset({"bigquery", "spark", "databricks"})  # a script's own variables have no sign before them
_MOST_CALLED = 1_000  # statements of bodies that calls in one script enter
_MAX_DEPTH = 8  # strings that execute strings, and routines that call each other
_RUNNING = frozenset({"EXEC", "EXECUTE", "PREPARE", "CALL"})


class Program:
    """The state of one script."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.functions: dict[str, Node] = {}  # SQL functions that the script has defined so far
        self.query_functions: QueryFunctions = {}  # those whose queries are entered where they are called
        self.earlier: list[Piece] = []  # statements so far, where a later one can ask for the rows of one
        self.given: tuple[tuple[dict[str, Node], QueryFunctions], ...] = ()  # functions of texts before the script
        self.code = Code(self._declare, self._leave)  # routines stay known for the scripts after it
        self._waiting: list[tuple[Trigger, Piece]] = []  # triggers whose functions are not known yet
        self._begin()

    def _begin(self) -> None:
        self.variables: dict[str, Node | None] = {}  # with what they stand for
        self.texts = Texts()
        self.cursors: dict[str, Node] = {}
        self._prepared: dict[str, tuple[str, ...]] = {}
        self._trigger: Trigger | None = None  # whose function runs
        self._codes: list[Code | None] = [self.code]  # of the texts that run; None for the body of a routine
        self._running: list[str] = []  # the routines that are being called, from the outermost
        self._called = 0
        self._carried: set[str] = set()  # variables of a loop that it has not set yet, and sets by queries
        self._defined: frozenset[str] = frozenset()

    def pieces(self, source: Source) -> Iterator[Piece]:
        """The statements of a script, in order; each must be lowered before the next is asked for."""
        self.functions.clear()
        self.query_functions.clear()
        for functions, by_query in self.given:
            self.functions |= functions
            self.query_functions |= by_query
        self.earlier.clear()
        self._begin()
        self.code.names.clear()
        self.code.held = functions_of_triggers(source.text)
        self._defined = functions_for_triggers(source.text)
        yield from self._follow(self._cut(source, self.code))
        # the triggers whose function was not known when they were made, and is now
        ready = [each for each in self._waiting if (each[0].function or "") in self.code.routines]
        self._waiting = [each for each in self._waiting if each not in ready]
        for trigger, piece in ready:
            head = self.code.routines[trigger.function or ""].head
            yield from self._run_trigger(trigger, dataclasses.replace(piece, span=head.span))

    def lend(self, lowering: Lowering, piece: Piece) -> None:
        """Let the lowering of a statement see and change what the script has."""
        lowering.names = self._bare_names(piece)
        lowering.functions = self.functions
        lowering.query_functions = self.query_functions
        lowering.variables = self.variables
        lowering.texts = self.texts
        lowering.cursors = self.cursors
        current = self._routine
        lowering.trigger = current.trigger if current is not None else self._trigger
        if lowering.trigger is not None:
            self.variables |= {name: row_of(lowering.trigger, name) for name in lowering.trigger.rows}
        elif current is not None and current.for_triggers:
            self.variables |= {"new": None, "old": None}
        else:
            for name in ("new", "old"):
                self.variables.pop(name, None)

    def _bare_names(self, piece: Piece) -> Container[str]:
        """The variables that a query can name without a sign before them."""
        if self.dialect in _BARE_VARIABLES:
            return self.variables
        if self.dialect == "snowflake" and (self._routine is None or self._routine.kind != "FUNCTION"):
            return {name for name in piece.names if name.startswith("headwater_")}  # arguments of a string
        return () if self.dialect in MICROSOFT else piece.names

    def _cut(self, source: Source, code: Code) -> Iterator[Piece]:
        return enter_blocks(noted(source, self.dialect, self.query_functions), source, self.dialect, code)

    def _declare(self, names: Iterable[str], given: bool) -> None:
        """Variables begin to exist: a parameter is `given` a value that may be anything, a variable has none."""
        for name in names:
            self.variables[name] = None
            self.texts.give(name, (self.texts.hole(None) if given else NULL,), ())

    def _leave(self, names: Iterable[str]) -> None:
        """Variables end with the block that declares them."""
        for name in names:
            self.variables.pop(name, None)

    def _follow(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The same pieces, with what they execute in the place of those that execute something."""
        for piece in pieces:
            first = piece.tokens[0].text.upper() if piece.tokens else ""
            rows = self._routine is not None and self._routine.for_triggers
            if rows and any(token.text.lower() in ("new", "old") for token in piece.tokens):
                piece = dataclasses.replace(piece, doubt=_UNBOUND)
            if piece.loop_sets:
                self._carried |= enter_loop(piece, self.texts)
            if self._carried and any(branch.loops for branch in piece.branches):
                piece = in_loop(piece, self._carried, self.dialect)
            whole = piece
            if first in _RUNNING and len(piece.tokens) == 2:
                piece = read_command(piece, self.dialect)
            for name in set_on_the_way(piece.tokens, self.dialect):
                self._forget(name, piece)
            if first == "PREPARE" and (prepared := read_prepared(piece.tokens)) is not None:
                name, tokens, is_statement = prepared
                if is_statement:
                    piece = dataclasses.replace(piece, tokens=tokens)
                    yield piece
                self._prepared[name] = (piece.words,) if is_statement else self._texts_of(tokens, piece)
                continue
            executed = read_executed(piece.tokens, self.dialect, inside=bool(piece.names)) if first else None
            if executed is not None:
                if executed.elsewhere:
                    yield opaque_piece(piece, "the string is executed on another server")
                else:
                    yield from self._run_texts(piece, self._texts_of(executed.string, piece), executed)
                continue
            if first == "EXECUTE" and len(piece.tokens) > 1 and piece.tokens[1].text.lower() in self._prepared:
                texts = self._prepared[piece.tokens[1].text.lower()]
                yield from self._run_texts(piece, texts, Executed((), read_bound(piece.tokens)))
                continue
            yield from self._call(piece, whole, first)

    @property
    def _routine(self) -> Routine | None:
        """The routine whose definition the current statement stands in."""
        code = self._codes[-1]
        return code.current if code is not None else None

    def _run_texts(self, piece: Piece, texts: Sequence[str], executed: Executed) -> Iterator[Piece]:
        """The statements of a string, of each of the texts that it may be."""
        known = [text for text in texts if NULL not in text]
        if not known:
            yield opaque_piece(piece, "the executed string has no value here")
            return
        if len(self._running) >= _MAX_DEPTH:
            yield opaque_piece(piece, f"strings execute strings more than {_MAX_DEPTH} times in a row")
            return
        doubt = f"the executed string is one of {len(known)}, and some may never be" if len(known) > 2 else None
        for text in known:
            if text.strip() and all(map(is_hole, text.strip())):
                yield opaque_piece(piece, f"the executed string is not known: it is {self._shown(text.strip()[0])}")
            else:
                for inner in self._run_text(piece, text, executed):
                    yield dataclasses.replace(inner, doubt=inner.doubt or doubt)

    def _run_text(self, piece: Piece, text: str, executed: Executed) -> Iterator[Piece]:
        source = Source(with_named_holes(text, self.dialect))
        bound = self._bound(executed.arguments, piece)
        bound |= {hole_name(sign): Bound(self.texts.behind(sign), (sign,)) for sign in text if is_hole(sign)}
        back = {name: name for name in (*executed.into, piece.record) if name is not None}
        with self._frame("", bound, back | given_back(executed.arguments)):
            self.variables.update(dict.fromkeys(executed.into))
            code = Code(self._declare, self._leave)
            code.names.update(bound)
            code.routines = self.code.routines
            self._codes[-1] = code
            for inner in self._follow(self._cut(source, code)):
                yield self._executed(inner, piece, source, executed) if inner.source is None else inner

    def _executed(self, inner: Piece, outer: Piece, source: Source, executed: Executed) -> Piece:
        """A statement of an executed string: at the place of the EXECUTE, with its parameters named."""
        if executed.arguments:
            inner = dataclasses.replace(inner, tokens=bind(inner.tokens, len(executed.arguments)))
        inner = self._placed(inner, outer, source, executed.before)
        tokens = inner.tokens
        worst = worst_hole(tokens)
        hidden = self._shown(worst[1]) if worst is not None else ""
        return dataclasses.replace(
            inner,
            into=executed.into,
            record=outer.record or inner.record,
            cursor=outer.cursor or inner.cursor,
            opaque=f"the executed string is not known: it depends on {hidden}"
            if worst and worst[0] == "names"
            else None,
            doubt=f"a value in the executed string is not known: {hidden}" if worst and worst[0] == "value" else None,
        )

    def _placed(self, inner: Piece, outer: Piece, source: Source, before: Sequence[Any]) -> Piece:
        """A statement of another text at the place of the one that runs it; `before` takes the rows that it gives."""
        if before and inner.tokens[0].text.upper() in ("SELECT", "WITH"):
            head = outer.text[before[0].start : before[-1].end + 1]
            source = Source(f"{head}\n{inner.words}")
            whole = next(split_statements(source, self.dialect), inner)
            inner = dataclasses.replace(inner, text=whole.text, tokens=whole.tokens, offset=whole.offset)
        return dataclasses.replace(
            inner, span=outer.span, source=source, conditional=inner.conditional or outer.conditional
        )

    def _shown(self, sign: str) -> str:
        text = self.texts.shown(sign, self.dialect)
        return f"`{text}`" if 0 < len(text) <= 60 else "a value that cannot be computed"

    def executed_texts(self, piece: Piece) -> list[ExecutedText]:
        """The texts that an expression may give to be executed, for a front end that lowers them itself."""
        found: list[ExecutedText] = []
        texts = self._texts_of(piece.tokens, piece)
        for text in texts:
            if NULL not in text:
                named = with_named_holes(text, self.dialect)
                worst = worst_hole(next((each.tokens for each in split_statements(Source(named), self.dialect)), ()))
                hides = worst[0] if worst is not None else "value" if len(texts) > 2 else None
                shown = self._shown(worst[1]) if worst is not None else f"it is one of {len(texts)}"
                found.append(ExecutedText(without_holes(text), hides, shown))
        return found

    def forget_texts(self, names: Iterable[str]) -> None:
        """Variables may hold anything from here on."""
        for name in names:
            self.texts.give(name, (self.texts.hole(None),), ())

    def _texts_of(self, tokens: Sequence[Any], piece: Piece) -> tuple[str, ...]:
        """The texts that an expression may give; its variables stand for what they have here."""
        node = self._parsed(tokens, piece)
        if node is None:
            return (self.texts.hole(None),)
        bare = self._bare_names(piece)
        return Evaluation(self.texts, self.variables, bare, piece.branches, self.dialect).values(node)

    def _parsed(self, tokens: Sequence[Any], piece: Piece) -> Node | None:
        if not tokens:
            return None
        try:
            tree = parse_piece(dataclasses.replace(piece, tokens=as_query(tokens)), self.dialect)
        except Exception:  # the parser fails in many ways on what is not SQL
            return None
        return tree.expressions[0] if isinstance(tree, exp.Select) and len(tree.expressions) == 1 else None

    def _bound(self, arguments: Sequence[Argument], piece: Piece) -> dict[str, Bound]:
        """The arguments of a string by the names that they have inside it."""
        found: dict[str, Bound] = {}
        for number, argument in enumerate(arguments, start=1):
            node = self._parsed(argument.tokens, piece)
            name = argument.name or f"headwater_using_{number}"
            read = node is not None and reads(self.variables, node)
            value = inlined(self.variables, node, self._bare_names(piece)) if read else None
            found[name] = Bound(value, self._texts_of(argument.tokens, piece))
        return found

    @contextmanager
    def _frame(self, name: str, bound: dict[str, Bound], back: dict[str, str]) -> Iterator[None]:
        """Inside, only bound variables exist; `back` says which of them are given back, and as which."""
        outer, prepared = self.variables, self._prepared
        with self.texts.apart():
            self.variables = dict(outer) if self.dialect in MYSQL else {}  # of the session, which a string sees, too
            for each, value in bound.items():
                self.variables[each] = value.node
                self.texts.give(each, value.texts, ())
            self._running.append(name)
            self._codes.append(None)
            try:
                yield
            finally:
                self._running.pop()
                self._codes.pop()
                inner, self.variables, self._prepared = self.variables, outer, prepared
        for each, outside in back.items():
            self.variables[outside] = inner.get(each)
            self.texts.give(outside, (self.texts.hole(None),), ())

    def _call(self, piece: Piece, whole: Piece, first: str) -> Iterator[Piece]:
        """The body of the procedure that a statement calls, or the `whole` when it calls none that is known."""
        trigger = read_routine(piece) if first in ("CREATE", "ALTER") else None
        if trigger is not None and trigger.trigger is not None and trigger.trigger.function:
            yield from self._run_trigger(trigger.trigger, piece)
            return
        call = read_call(piece.tokens, self.dialect, self.code.routines)
        if call is None:
            yield whole
            return
        routine = self.code.find(call.owner, call.name)
        if routine is None or not routine.runs or routine is self.code.current:
            for argument in call.arguments:  # what is not known to be read only may be set
                if argument.out or self.dialect not in MICROSOFT:
                    self._forget(variable_of(argument), piece)
            yield whole
        elif routine.full_name in self._running:
            yield opaque_piece(piece, f"`{routine.name}` calls itself: its body is entered once")
        elif len(self._running) >= _MAX_DEPTH or self._called + len(routine.pieces) > _MOST_CALLED:
            yield opaque_piece(piece, f"the body of `{routine.name}` is not entered again: there are too many calls")
        else:
            bound, back = self._parameters(routine, call, piece)
            yield from self._run(routine, piece, bound, back, before=call.before)

    def _forget(self, name: str | None, piece: Piece) -> None:
        """A variable may hold another text from here on."""
        if name is not None and self.texts.knows(name):
            self.texts.give(name, (self.texts.hole(None),), piece.branches)

    def _parameters(
        self, routine: Routine, call: ProcedureCall, piece: Piece
    ) -> tuple[dict[str, Bound], dict[str, str]]:
        """The values of a routine's parameters in a call, and the variables that take those that are given back."""
        places = {each.name: each for each in call.arguments if each.name is not None}
        bound: dict[str, Bound] = {}
        back: dict[str, str] = {}
        positional = [each for each in call.arguments if each.name is None]
        for parameter in routine.parameters:
            argument = places.get(parameter.name) or (positional.pop(0) if positional else None)
            if argument is not None:
                bound[parameter.name] = self._bound([argument], piece).popitem()[1]
                if parameter.out and (argument.out or self.dialect not in MICROSOFT):
                    back |= {parameter.name: str(argument.tokens[-1].text).lower()}
            else:
                texts = self._texts_of(parameter.default, routine.head) if parameter.default else (NULL,)
                bound[parameter.name] = Bound(None, texts)
        return bound, back

    def _run(
        self,
        routine: Routine,
        piece: Piece,
        bound: dict[str, Bound],
        back: dict[str, str],
        *,
        before: Sequence[Any] = (),
    ) -> Iterator[Piece]:
        """The statements of a routine's body, in the place of the statement that runs it."""
        self._called += len(routine.pieces)
        with self._frame(routine.full_name, bound, back):
            for name in routine.declared:
                self.texts.give(name, (NULL,), ())
            inner = [
                self._placed(each, piece, each.source or routine.source or Source(""), before)
                for each in routine.pieces
            ]
            yield from self._follow(inner)

    def _run_trigger(self, trigger: Trigger, piece: Piece) -> Iterator[Piece]:
        """The body of the function that a trigger calls, with the rows of the trigger's table."""
        if any(part.startswith("headwater_hole_") for part in trigger.table):
            yield opaque_piece(piece, "the table of the trigger is not known: its name is computed")
            return
        routine = self.code.routines.get(trigger.function or "")
        if routine is None or not routine.for_triggers:
            self._waiting.append((trigger, piece))
            if trigger.function not in self._defined:
                yield opaque_piece(piece, f"the function `{trigger.function}` of the trigger is not known here")
            return
        outer, self._trigger = self._trigger, trigger
        try:
            yield from self._run(routine, piece, {}, {})
        finally:
            self._trigger = outer
