"""Files that overlap are merged where their blocks do, and read as they are elsewhere."""

from functools import partial

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.lake.test_plain import NUMBER, TEXT, tree_of, write

from headwater.lake import RowKind
from headwater.lake.engine import reads
from headwater.lake.engine.overlap import stretches
from headwater.lake.engine.sst.keysection import NumberSection
from headwater.lake.engine.unmerged_scan import sections


def spans(tree, least, bounds=(None, None)):
    (section,) = sections([run.files for run in tree._upkeep.state.runs])
    return [
        (part.lower, part.upper, part.alone and part.alone.file.rows) for part in stretches(section, bounds, least)
    ]


def test_only_what_overlaps_is_merged():
    tree = tree_of(TEXT, ("id",))
    write(tree, TEXT, [*range(100), *range(200, 300)])
    write(tree, TEXT, [*range(90, 210), *range(400, 500)])
    found = [(lower[:4], upper[:4], alone) for lower, upper, alone in spans(tree, least=20)]
    assert [alone for _, _, alone in found] == [200, None, 220]
    assert found[0][0] == b"0000"
    assert found[0][1] < b"0090", "up to the block that the other file reaches into"
    assert b"0300" <= found[2][0] <= b"0420"
    assert [alone for _, _, alone in spans(tree, least=1000)] == [None], "too few to be worth a batch of their own"
    tree.close()


def test_no_key_of_what_lies_alone_is_decoded(monkeypatch):
    monkeypatch.setattr(reads, "stretches", partial(stretches, least=20))
    tree = tree_of(NUMBER, ("id",))
    write(tree, NUMBER, [*range(100), *range(200, 300)], 1)
    write(tree, NUMBER, [*range(100, 200), *range(300, 400)], 2)
    decoded = []
    keys = NumberSection.keys
    monkeypatch.setattr(NumberSection, "keys", lambda self: decoded.append(self) or keys(self))
    assert tree.to_arrow(["n"])["n"].to_pylist() == [1] * 100 + [2] * 100 + [1] * 100 + [2] * 100
    assert len(decoded) == 8, "the blocks at the ends of each stretch, and no block reaches over a gap"
    tree.close()


ranges = st.tuples(st.integers(0, 400), st.integers(1, 120)).map(lambda pair: range(pair[0], pair[0] + pair[1]))
turns = st.lists(st.tuples(st.lists(ranges, min_size=1, max_size=3), st.booleans()), min_size=1, max_size=5)


@pytest.mark.parametrize("arrow", [NUMBER, TEXT])
@pytest.mark.parametrize("engine", ["deduplicate", "aggregation"])
@given(turns=turns, bounds=st.none() | st.tuples(st.integers(0, 500), st.integers(0, 500)), least=st.integers(1, 60))
def test_the_rows_are_those_of_a_dictionary(arrow, engine, turns, bounds, least):
    options = {"merge-engine": engine} | ({"fields.n.aggregate-function": "sum"} if engine == "aggregation" else {})
    tree = tree_of(arrow, ("id",), **options)
    wanted = {}
    for turn, (parts, deletes) in enumerate(turns, 1):
        ids = sorted({id for part in parts for id in part})
        if deletes:
            gone = pa.table({"id": [f"{id:04}" if arrow is TEXT else id for id in ids]})
            tree.write_arrow(gone, kind=RowKind.DELETE)
            tree.flush()
        else:
            write(tree, arrow, ids, turn)
        for id in ids:
            if deletes:
                wanted.pop(id, None)
            else:
                wanted[id] = turn + (wanted.get(id, 0) if engine == "aggregation" else 0)
    low, high = bounds if bounds is not None else (None, None)
    given_bounds = {} if bounds is None else {"lower": low, "upper": high}
    if arrow is TEXT:
        given_bounds = {name: f"{value:04}" for name, value in given_bounds.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reads, "stretches", partial(stretches, least=least))
        found = tree.to_arrow(**given_bounds)
    tree.close()
    inside = {id: n for id, n in sorted(wanted.items()) if bounds is None or low <= id <= high}
    assert {int(id): n for id, n in zip(found["id"].to_pylist(), found["n"].to_pylist())} == inside
    assert [int(id) for id in found["id"].to_pylist()] == list(inside), "in the order of their keys"


PAIRS = pa.schema([("k", pa.string()), ("j", pa.int32()), ("n", pa.int64())])
pairs = st.sets(st.tuples(st.sampled_from("abc"), st.sampled_from([-(2**31), -256, -1, 0, 1, 256])), min_size=1)


@example([{("a", -1), ("a", 1)}, {("a", 0)}], (None, {("a", 0)}))
@given(turns=st.lists(pairs, min_size=1, max_size=4), bounds=st.tuples(st.none() | pairs, st.none() | pairs))
def test_separators_that_are_the_beginning_of_a_key_lose_no_row(turns, bounds):
    """Keys that end in zero bytes, as those of 0 and of round numbers do, are no separator with zeros behind it."""
    tree = tree_of(PAIRS, ("k", "j"), **{"file.block-size": "1"})
    wanted = {}
    for turn, keys in enumerate(turns):
        ordered = sorted(keys)
        rows = {"k": [k for k, _ in ordered], "j": [j for _, j in ordered], "n": [turn] * len(ordered)}
        tree.write_arrow(pa.table(rows, schema=PAIRS))
        tree.flush()
        wanted |= dict.fromkeys(ordered, turn)
    low, high = (None if bound is None else min(bound) for bound in bounds)
    found = tree.to_arrow(lower=low, upper=high).to_pylist()
    tree.close()
    inside = {key: n for key, n in wanted.items() if (low is None or low <= key) and (high is None or key <= high)}
    assert [((row["k"], row["j"]), row["n"]) for row in found] == sorted(inside.items())
