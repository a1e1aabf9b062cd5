"""YAML of others, read as plain values only: the one place that does."""

from typing import Any

import yaml

from headwater.errors import InputError


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the fast one where it is there
    """Makes lists, dictionaries and scalars. A value with a tag of somebody's own is unknown: None."""


_Loader.add_multi_constructor("!", lambda loader, tag, node: None)


def read_yaml(text: str) -> Any:
    """The value of a YAML document.

    >>> read_yaml("a: [1, x]\\nb: !own {c: 2}")
    {'a': [1, 'x'], 'b': None}

    RAISES: InputError when it is not YAML, with the line and column.
    """
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, RecursionError, ValueError) as err:
        raise InputError(f"it is not YAML: {' '.join(str(err).split())}") from err
