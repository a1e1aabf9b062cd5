"""The words of a dbt project about its tables and columns: descriptions, and owners."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from headwater.graph.facts import TableWords
from headwater.jobs.harvest.dbt.renderer import Renderer
from headwater.jobs.harvest.dbt.resources import Resources

_DOC = re.compile(r"""\{\{\s*doc\(\s*(?:['"]\w+['"]\s*,\s*)?['"](\w+)['"]\s*\)\s*\}\}""")


def project_words(renderer: Renderer) -> Iterator[TableWords]:
    """The descriptions and owners of models, seeds, snapshots, sources and exposures, for those that have any."""
    resources = renderer.resources
    for node in resources.nodes.values():
        said = {**node.properties, "config": renderer.config(node)}
        yield from _words(renderer.relation(node).parts, said, resources)
    for (group, name), source in resources.sources.items():
        yield from _words(renderer.source_as_read(group, name).parts, source.properties, resources)
    for _, exposure in resources.exposures:
        yield from _words(("exposure", str(exposure["name"])), exposure, resources)


def _words(table: tuple[str, ...], said: Mapping[str, Any], resources: Resources) -> Iterator[TableWords]:
    columns = [each for each in said.get("columns") or () if isinstance(each, Mapping) and each.get("name")]
    texts = {str(each["name"]): _text(each.get("description"), resources) for each in columns}
    about = {name: text for name, text in texts.items() if text}
    description, owner = _text(said.get("description"), resources), _owner(said, resources)
    if description or owner or about:
        yield TableWords(table, description, owner, about)


def _text(description: object, resources: Resources) -> str | None:
    """A description with its `doc` blocks; None for one that asks for more than these."""
    text = _DOC.sub(lambda found: resources.docs.get(found[1], found[0]), str(description or "")).strip()
    return text if text and "{{" not in text else None


def _owner(said: Mapping[str, Any], resources: Resources) -> str | None:
    config = said.get("config") or {}
    metas = [each for each in (said.get("meta"), config.get("meta")) if isinstance(each, Mapping)]
    group = resources.groups.get(str(said.get("group") or config.get("group")), {})
    named = [each.get("owner") for each in metas] + [said.get("owner"), group.get("owner")]
    return next(filter(None, map(_name, named)), None)


def _name(owner: object) -> str | None:
    """An owner as one text: YAML has a name, several, or a mapping with the name and address."""
    if isinstance(owner, Mapping):
        return _name(owner.get("name") or owner.get("email"))
    if isinstance(owner, list):
        return ", ".join(filter(None, map(_name, owner))) or None
    return str(owner) if owner else None
