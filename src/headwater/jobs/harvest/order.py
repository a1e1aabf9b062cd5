"""The order of scripts: each after those that make what it reads, otherwise as they are named.

A folder says nothing about the order in which its files run. A script that reads a table which only a later one
makes comes after that one; so does one that calls a function. Of scripts that wait for each other in a circle, the
first by name goes first; what it reads too early is then unknown to it, and said to be.
"""

import heapq
import re
from collections.abc import Container, Sequence

from headwater.jobs.harvest.units import Script, has_word, last_part, may_mean, plain_name, routine_names
from headwater.model.names import TableName

_READS = re.compile(
    r"""\b(?:FROM|JOIN|USING)\s+(?:ONLY\s+|LATERAL\s+)?((?:[`"\[]?[\w$-]+[`"\]]?\s*\.\s*)*[`"\[]?[\w$.-]+[`"\]]?)
      | \bref\(\s*(?:['"][^'"]*['"]\s*,\s*)?['"]([^'"]+)['"]""",
    re.IGNORECASE | re.VERBOSE,
)
_CTES = re.compile(
    r"""(?:\bWITH\s++(?:RECURSIVE\s++)?|,\s*+)([`"\[]?\w++[`"\]]?)\s*+(?:\([^()]*+\)\s*+)?AS\s*+\(""", re.IGNORECASE
)
_CALLS = re.compile(r"""(?<![\w$.`"\[\]-])([\w$.`"\[\]-]++)\s*+\(""")
_TEXTS = re.compile(r"'[^'\n]*'|--[^\n]*|/\*.*?\*/", re.DOTALL)  # strings and comments
_MAKES = re.compile(
    r"""\b(?: CREATE\s+(?:OR\s+(?:REPLACE|REFRESH)\s+)?
          (?:TRANSIENT\s+|MATERIALIZED\s+|EXTERNAL\s+|SECURE\s+|DYNAMIC\s+|STREAMING\s+|LIVE\s+)*
          (?:TABLE(?!\s+FUNCTION\b)|VIEW|STREAM)\s+(?:IF\s+NOT\s+EXISTS\s+)?
        | RENAME\s+(?!COLUMN\b)(?:(?:TABLE|VIEW)\s+)?(?:[\w$.`"\[\]-]+\s+)?(?:TO|AS)\s+
        | SWAP\s+WITH\s+
        | EXCHANGE\s+TABLES\s+
        )((?:[`"\[]?[\w$-]+[`"\]]?\s*\.\s*)*[`"\[]?[\w$.-]+[`"\]]?)""",
    re.IGNORECASE | re.VERBOSE,
)


def in_order(scripts: Sequence[Script]) -> list[Script]:
    """The scripts in the order in which they are to be read. Temporary tables bind nobody."""
    makes = [_made(script) for script in scripts]
    makers: dict[str, dict[str, list[int]]] = {}  # by the last part, and by the whole of the name
    for at, names in enumerate(makes):
        for name in names:
            makers.setdefault(last_part(name), {}).setdefault(name, []).append(at)
    before: list[set[int]] = [set() for _ in scripts]
    for at, script in enumerate(scripts):
        for name in _read(script, makers) - makes[at]:
            alike = makers.get(last_part(name), {})
            if script.reads is not None:  # whoever knows them knows them whole
                same = alike.get(name, [])
            else:
                same = sorted({maker for each, those in alike.items() if may_mean(name, each) for maker in those})
            earlier = [maker for maker in same if maker < at]
            later = [maker for maker in same if maker > at]
            if earlier:
                before[at].add(earlier[-1])
                for maker in later[:1]:  # who makes it anew comes after who reads it as it was
                    before[maker].add(at)
            elif later:
                before[at].add(later[0])
    return [scripts[at] for at in _sorted(before)]


def tables_read(scripts: Sequence[Script]) -> list[TableName]:
    """The tables that scripts read and none of them makes, as they are written; each once."""
    made = {name for script in scripts for name in _made(script)}
    found: dict[TableName, None] = {}
    for script in scripts:
        others = made | {plain_name(match[1]) for match in _CTES.finditer(script.text)}
        read = script.reads or [match[1] for match in _READS.finditer(script.text) if match[1]]
        for name in read:
            if plain_name(name) not in others:
                found[TableName(tuple(re.sub(r"[`\"\[\]\s]", "", name).split(".")))] = None
    return list(found)


def _sorted(before: list[set[int]]) -> list[int]:
    after: list[list[int]] = [[] for _ in before]
    waiting = [len(each) for each in before]
    for at, others in enumerate(before):
        for other in others:
            after[other].append(at)
    free = [at for at, count in enumerate(waiting) if not count]
    heapq.heapify(free)
    done: dict[int, None] = {}
    while len(done) < len(before):
        at = heapq.heappop(free) if free else _in_circle(before, done)
        if at in done:
            continue
        done[at] = None
        for each in after[at]:
            waiting[each] -= 1
            if not waiting[each] and each not in done:
                heapq.heappush(free, each)
    return list(done)


def _in_circle(before: list[set[int]], done: dict[int, None]) -> int:
    """The first member of a circle of scripts that wait for each other. REQUIRES: none of the others is free."""
    at = next(at for at in range(len(before)) if at not in done)
    way: dict[int, None] = {}
    while at not in way:  # each waits for another, so the way comes back to where it was
        way[at] = None
        at = min(other for other in before[at] if other not in done)
    met = list(way)
    return min(met[met.index(at) :])


def _made(script: Script) -> frozenset[str]:
    made = routine_names(script.text)
    if has_word(script.text, "create", "rename", "swap", "exchange"):
        made += [plain_name(match[1]) for match in _MAKES.finditer(script.text)]
    return frozenset(made if script.makes is None else [*made, plain_name(script.makes)])


def _read(script: Script, called: Container[str]) -> frozenset[str]:
    """The names of tables and functions that a script seems to use; those of its own CTEs are no tables."""
    text = script.text
    if not has_word(text, "exec", "{{", "{%"):  # a string may be executed, and templates name tables in strings
        text = _TEXTS.sub(" ", text)
    found = [match.groups() for match in _READS.finditer(text)]
    names = {plain_name(name) for name, _ in found if name}
    if script.reads is not None:  # a macro may put a name together that it never asked `ref` for
        return frozenset(map(plain_name, script.reads)) | {name for name in names if "." in name}
    own = {plain_name(match[1]) for match in _CTES.finditer(text)}
    calls = {name for match in _CALLS.finditer(text) if last_part(name := plain_name(match[1])) in called}
    refs = {plain_name(ref) for _, ref in found if ref}
    return frozenset((names | calls) - own | refs)
