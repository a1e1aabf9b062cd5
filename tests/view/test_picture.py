"""Layout and SVG: nothing overlaps, nothing overflows, nothing escapes."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headwater
from headwater.lineage.formats.picture import diagram
from headwater.view.bundles import bundled
from headwater.view.diagram import Box, Diagram, End, Line, Port, Style
from headwater.view.layout import FONT_SIZE, lay_out
from headwater.view.measure import labels, shortened, text_width
from headwater.view.svg import to_svg

ROOT = Path(__file__).parent.parent.parent
SHOP = ROOT / "docs" / "images" / "shop.svg"

names = st.text(alphabet="abcWi한_ <&\"'", min_size=1, max_size=30)


@st.composite
def diagrams(draw):
    boxes = [
        Box(f"b{at}", draw(names), tuple(Port(f"p{n}", draw(names)) for n in range(draw(st.integers(0, 4)))))
        for at in range(draw(st.integers(1, 8)))
    ]
    ends = [End(box.id, port) for box in boxes for port in (None, *(each.id for each in box.ports))]
    lines = draw(st.lists(st.builds(Line, st.sampled_from(ends), st.sampled_from(ends)), max_size=20))
    return Diagram(tuple(boxes), tuple(lines))


def overlap(one, other):
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height - 0.01
        and other.y < one.y + one.height - 0.01
    )


@given(diagrams())
def test_boxes_do_not_overlap_and_lie_inside(drawn):
    layout = lay_out(drawn)
    places = list(layout.places.values())
    assert len(places) == len(drawn.boxes)
    for at, place in enumerate(places):
        assert place.x >= 0
        assert place.y >= -0.01
        assert place.x + place.width <= layout.width + 0.01
        assert place.y + place.height <= layout.height + 0.01
        assert not any(overlap(place, other) for other in places[at + 1 :])


@given(diagrams())
def test_what_is_made_stands_right_of_what_it_is_made_of(drawn):
    layout = lay_out(drawn)
    pairs = {(line.source.box, line.target.box) for line in drawn.lines if line.source.box != line.target.box}
    reach = {box.id: {target for source, target in pairs if source == box.id} for box in drawn.boxes}
    for _ in drawn.boxes:
        for box in reach:
            reach[box] |= {far for near in reach[box] for far in reach[near]}
    for source, target in pairs:
        if source not in reach[target]:  # not in a circle
            assert layout.places[source].x + layout.places[source].width < layout.places[target].x


@given(diagrams())
def test_what_stays_keeps_its_order(drawn):
    """A picture that grows out of another does not shuffle the boxes of a rank that both have."""
    few = {box.id for box in drawn.boxes[::2]}
    part = Diagram(
        tuple(box for box in drawn.boxes if box.id in few),
        tuple(line for line in drawn.lines if {line.source.box, line.target.box} <= few),
    )
    before = lay_out(part)
    after = lay_out(drawn, near=before)
    for one in few:
        for other in few:
            old, new = (before.places[one], before.places[other]), (after.places[one], after.places[other])
            if new[0].x == new[1].x and old[0].y < old[1].y:
                assert new[0].y < new[1].y


@given(diagrams(), st.lists(st.sampled_from(["", "shop", "mart"]), min_size=8, max_size=8))
def test_groups_stand_together_in_frames(drawn, groups):
    boxes = tuple(replace(box, group=group) for box, group in zip(drawn.boxes, groups))
    layout = lay_out(Diagram(boxes, drawn.lines))
    places = {box.id: (layout.places[box.id], box.group) for box in boxes}
    for group, frame in layout.frames:
        for place, own in places.values():
            inside = overlap(place, frame)
            assert not inside or own == group
    for place, own in places.values():
        around = [frame for group, frame in layout.frames if group == own and overlap(place, frame)]
        assert bool(around) is bool(own)


@given(diagrams())
def test_the_svg_is_well_formed_and_the_same_each_time(drawn):
    svg = to_svg(drawn)
    assert svg == to_svg(drawn)
    root = ElementTree.fromstring(svg)
    assert len(root.findall(".//{*}path")) == len(drawn.lines)
    assert len([each for each in root.iter() if (each.get("class") or "").startswith("box ")]) == len(drawn.boxes)


@given(names, st.floats(30, 200))
def test_text_is_cut_to_its_room(text, room):
    shown = shortened(text, FONT_SIZE, room)
    assert text_width(shown, FONT_SIZE) <= room + 0.1 or len(shown) <= 3
    assert shown == text or "…" in shown


PARTS = st.lists(
    st.sampled_from(["moz-fx-data", "accounts_backend_derived", "daily", "monitoring_db_counts_v1"]),
    min_size=3,
    max_size=7,
)


@given(st.lists(PARTS, min_size=2, max_size=12), st.sampled_from("./_"), st.floats(150, 330))
def test_names_that_differ_are_drawn_differently(parts, border, room):
    """Three boxes read `moz-fx-data…`, and two files `…/customers.csv`."""
    texts = [border.join(each) for each in parts]
    shown = labels(texts, [room] * len(texts), FONT_SIZE, bold=True)
    assert len(set(shown)) == len(set(texts)), shown
    assert all(text_width(each, FONT_SIZE, bold=True) <= room + 0.1 for each in shown)


def test_boxes_rows_and_frames_of_a_picture_have_different_labels():
    middles = [f"{'firefox' * 4}{at}" for at in range(6)]
    names = [f"moz-fx-data-shared-prod.org_mozilla_{each}.{'baseline_clients_' * 3}v1" for each in middles]
    ports = tuple(Port(each, f"payload.{'processes_' * 4}{each}.{'scalars_' * 5}sum") for each in middles)
    drawn = Diagram(tuple(Box(name, name, ports, group=name) for name in names))
    root = ElementTree.fromstring(to_svg(drawn))
    for kind, many in (("title", 6), ("label", 6), ("port", 36)):
        texts = [each for each in root.iterfind(".//{*}text") if each.get("class") == kind]
        shown = {"".join(each.itertext()).removeprefix(each.findtext("{*}title") or "") for each in texts}
        assert len(texts) == many
        assert len(shown) == 6, shown
    assert {each.text.split(":")[0] for each in root.iterfind(".//{*}g[@class]/{*}title")} >= set(names), "in full"


def test_a_box_holds_its_own_title():
    for title in ("raw.customers", "mart.best_sellers", "WWW.iii"):
        assert f">{title}</text>" in to_svg(Diagram((Box("b", title),)))


def test_hostile_names_stay_text():
    box = Box('"><script>alert(1)</script>', "</text><script>", (Port("'x", "<img onerror=y>"),))
    svg = to_svg(Diagram((box,), (Line(End(box.id), End(box.id, "'x"), Style.ROW, "<b>&"),)))
    assert "<script>" not in svg
    assert "<img" not in svg
    ElementTree.fromstring(svg)


def fanned(count, *, aside):
    """A box whose rows are those of another one, which boxes of another rank push `aside` of it."""
    ports = tuple(Port(f"p{at}", f"p{at}") for at in range(count))
    more = tuple(Box(f"m{at}", "m", ports) for at in range(aside))
    lines = [Line(End("a", port.id), End("b", port.id)) for port in ports]
    lines += [Line(End("a"), End(box.id)) for box in more]
    return Diagram((Box("a", "a", ports), *more, Box("b", "b", ports)), tuple(lines))


def test_lines_that_run_together_are_one_ribbon():
    drawn = fanned(5, aside=4)
    layout = lay_out(drawn)
    waists = [bundled(drawn, layout)[number] for number in range(5)]
    start, end = layout.places["a"], layout.places["b"]
    heights = [y for ((_, y, _),) in waists]
    assert heights == sorted(heights), "in the order of their rows"
    assert heights[-1] - heights[0] < 60 < 4 * 20, "nearer to each other than rows are"
    assert {x for ((x, _, _),) in waists} == {(start.x + start.width + end.x) / 2}
    assert to_svg(drawn).count("C") == 4 + 5 * 2


def test_rows_side_by_side_are_not_bundled():
    assert bundled(fanned(5, aside=0), lay_out(fanned(5, aside=0))) == {}
    few = fanned(2, aside=4)
    assert bundled(few, lay_out(few)) == {}


@given(diagrams())
def test_ribbons_stay_between_the_ranks(drawn):
    layout = lay_out(drawn)
    for number, points in bundled(drawn, layout).items():
        line = drawn.lines[number]
        start, end = layout.places[line.source.box], layout.places[line.target.box]
        across = [start.x + start.width, *(x for x, _, _ in points), end.x]
        assert across == sorted(across) or end.x <= start.x + start.width


def test_lines_are_drawn_by_the_strongest_influence():
    sql = "INSERT INTO d SELECT CASE WHEN a > 0 THEN a ELSE b END AS x FROM t WHERE c = 1"
    drawn = diagram(headwater.analyze(sql).statements)
    styles = {(line.source.port, line.target.port): line.style for line in drawn.lines}
    assert styles == {("a", "x"): Style.VALUE, ("b", "x"): Style.VALUE, ("c", None): Style.ROW}


@pytest.mark.golden
def test_the_picture_of_the_shop(request):
    """The picture in the docs is the one the command draws."""
    folder = ROOT / "src" / "headwater" / "demo" / "shop"
    text = "\n".join(file.read_text() for file in sorted((folder / "snowflake").glob("*.sql")))
    svg = headwater.analyze(text, "snowflake", schema=folder / "schemas" / "shop.sql").to_text("svg") + "\n"
    if request.config.getoption("--golden"):
        SHOP.parent.mkdir(exist_ok=True)
        SHOP.write_text(svg, encoding="utf-8")
    assert SHOP.read_text(encoding="utf-8") == svg
    assert not re.search(r"https?://(?!www\.w3\.org)", svg), "the picture fetches nothing"
