"""A diagram as the source of other drawing programs: Mermaid and Graphviz DOT.
Names never reach those languages as identifiers: boxes and ports are numbered, and names are escaped labels."""

from collections.abc import Iterator

from headwater.view.diagram import Diagram, Emphasis, End, Style


def to_mermaid(diagram: Diagram) -> str:
    """A Mermaid flowchart: boxes with their ports inside; what only decides is dashed."""
    ids = _numbered(diagram)
    lines = ["flowchart LR"]
    for box in diagram.boxes:
        title = _mermaid_text(box.title)
        if box.ports:
            lines.append(f'  subgraph {ids[End(box.id)]}["{title}"]')
            lines += [f'    {ids[End(box.id, port.id)]}["{_mermaid_text(port.label)}"]' for port in box.ports]
            lines.append("  end")
        else:
            lines.append(f'  {ids[End(box.id)]}["{title}"]')
    lines += [
        f"  {ids[line.source]} {'-->' if line.style is Style.VALUE else '-.->'} {ids[line.target]}"
        for line in diagram.lines
    ]
    return "\n".join([*lines, *_mermaid_states(diagram, ids)])


_MERMAID_STATES = {
    Emphasis.ADDED: "stroke:#15803d,stroke-width:2px",
    Emphasis.REMOVED: "stroke:#b91c1c,stroke-dasharray:5 4",
    Emphasis.CHANGED: "stroke:#7e22ce,stroke-width:2px",
}


def _mermaid_states(diagram: Diagram, ids: dict[End, str]) -> Iterator[str]:
    """The looks of what is added, removed or changed, if anything is."""
    found: dict[Emphasis, list[str]] = {state: [] for state in _MERMAID_STATES}
    for box in diagram.boxes:
        parts = [(box.state, End(box.id)), *((port.state, End(box.id, port.id)) for port in box.ports)]
        for state, end in parts:
            if state in found:
                found[state].append(ids[end])
    for state, names in found.items():
        if names:
            yield f"  classDef {state.value} {_MERMAID_STATES[state]}"
            yield f"  class {','.join(names)} {state.value}"


def to_dot(diagram: Diagram) -> str:
    """A Graphviz digraph: boxes as clusters of ports; what only decides is dashed."""
    ids = _numbered(diagram)
    ends = {end for line in diagram.lines for end in (line.source, line.target)}
    lines = ["digraph lineage {", "  rankdir=LR;", "  node [shape=box, fontname=Helvetica];"]
    for box in diagram.boxes:
        whole = End(box.id)
        if not box.ports:
            lines.append(f"  {ids[whole]} [label={_dot_text(box.title)}];")
            continue
        lines += [f"  subgraph cluster_{ids[whole]} {{", f"    label={_dot_text(box.title)};"]
        if whole in ends:
            lines.append(f"    {ids[whole]} [label={_dot_text('all rows')}, style=dashed];")
        lines += [f"    {ids[End(box.id, port.id)]} [label={_dot_text(port.label)}];" for port in box.ports]
        lines.append("  }")
    lines += [
        f"  {ids[line.source]} -> {ids[line.target]}{'' if line.style is Style.VALUE else ' [style=dashed]'};"
        for line in diagram.lines
    ]
    return "\n".join([*lines, "}"])


def _numbered(diagram: Diagram) -> dict[End, str]:
    return {end: f"n{number}" for number, end in enumerate(_ends(diagram))}


def _ends(diagram: Diagram) -> Iterator[End]:
    for box in diagram.boxes:
        yield End(box.id)
        for port in box.ports:
            yield End(box.id, port.id)


def _mermaid_text(text: str) -> str:
    """Mermaid reads `#NN;` as a character: escape what could end the label, the line or start markup."""
    return "".join(f"#{ord(char)};" if char in '"#<>&\\`' or ord(char) < 32 else char for char in text)


def _dot_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
