"""YAML of others, read as plain values only: the one place that does."""

from typing import Any

import yaml

from headwater.errors import InputError


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the fast one where it is there
    """Makes lists, dictionaries and scalars. A value with a tag of somebody's own is unknown: None."""


_Loader.add_multi_constructor("!", lambda loader, tag, node: None)
_STRING, _LIST, _MAPPING, _MERGE = (f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map", "merge"))


def read_yaml(text: str) -> Any:
    """The value of a YAML document.

    >>> read_yaml("a: [1, x]\\nb: !own {c: 2}")
    {'a': [1, 'x'], 'b': None}

    RAISES: InputError when it is not YAML, with the line and column.
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return None if node is None else _value(loader, node, {})
    except (yaml.YAMLError, RecursionError, ValueError) as err:
        raise InputError(f"it is not YAML: {' '.join(str(err).split())}") from err
    finally:
        loader.dispose()


def _value(loader: Any, node: yaml.Node, made: dict[int, Any]) -> Any:
    """The value of a node. Strings, lists and mappings, which are nearly all, need none of the library's detours.
    A node that stands in several places (`*alias`) is made once, however often it is named."""
    if node.tag == _STRING and type(node) is yaml.ScalarNode:
        return node.value
    found = made.get(id(node), made)
    if found is not made:
        return found
    if node.tag == _LIST and type(node) is yaml.SequenceNode:
        value: Any = [_value(loader, each, made) for each in node.value]
    elif node.tag == _MAPPING and type(node) is yaml.MappingNode and _has_plain_keys(node):
        value = {_value(loader, key, made): _value(loader, each, made) for key, each in node.value}
    else:
        value = loader.construct_document(node)
    made[id(node)] = value
    return value


def _has_plain_keys(node: yaml.Node) -> bool:
    return all(type(key) is yaml.ScalarNode and key.tag != _MERGE for key, _ in node.value)
