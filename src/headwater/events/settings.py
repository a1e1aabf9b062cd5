"""OpenLineage's own settings, from every place that its agents look in.

From the weakest to the strongest, as its Spark agent has it: environment variables (`OPENLINEAGE__TRANSPORT__TYPE`,
and those of its Python client such as `OPENLINEAGE_URL`), the file `openlineage.yml`, Spark's configuration
(`spark.openlineage.transport.type`). They become one tree with the names of the file:

    {"transport": {"type": "http", "url": …}, "namespace": …, "dataset": {"removePath": {"pattern": …}}, …}
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import parse_qsl, urlsplit

import msgspec

from headwater.errors import ConfigError, InputError
from headwater.safe_yaml import read_yaml

Tree: TypeAlias = dict[str, Any]

PREFIX = "spark.openlineage."
_VARIABLE = "OPENLINEAGE__"
_TAKEN_WHOLE = ("transport.properties.", "transport.urlParams.", "transport.headers.")
"""What comes after these is one name, dots and all."""


def gather(conf: Mapping[str, str], env: Mapping[str, str], folder: Path) -> Tree:
    """The settings as one tree; empty when there are none. `conf` is Spark's configuration.

    RAISES: ConfigError for an `openlineage.yml` that cannot be read.
    """
    found: Tree = {}
    for layer in (_from_variables(env), _from_file(env, folder), _from_conf(conf)):
        if at(layer, "transport.type", at(found, "transport.type")) != at(found, "transport.type"):
            found.pop("transport", None)  # another transport, not a mixture of both
        found = _merged(found, layer)
    return found


def at(tree: Tree, path: str, default: Any = None) -> Any:
    """The value at a dotted path.

    >>> at({"job": {"owners": {"team": "data"}}}, "job.owners.team")
    'data'
    """
    value: Any = tree
    for step in path.split("."):
        if not isinstance(value, dict) or step not in value:
            return default
        value = value[step]
    return value


def is_true(value: object) -> bool:
    """Return whether a setting says yes, as text or as a boolean."""
    return value is True or str(value).lower() == "true"


def several(value: object) -> list[str]:
    """The members of a list, however it is written: `[a;b]`, `a,b`, a list.

    >>> several("[a; b]"), several("a,b"), several(["a"]), several(None)
    (['a', 'b'], ['a', 'b'], ['a'], [])
    """
    if value is None:
        return []
    given = value if isinstance(value, list) else re.split(r"[;,]", str(value).strip().strip("[]"))
    return [text for each in given if (text := str(each).strip().strip("'\""))]


def leaves(tree: Tree, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting by its dotted path."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _merged(weak: Tree, strong: Tree) -> Tree:
    merged = dict(weak)
    for name, value in strong.items():
        below = merged.get(name)
        both = isinstance(value, dict) and isinstance(below, dict)
        merged[name] = _merged(cast(Tree, below), value) if both else value
    return merged


def _put(tree: Tree, path: list[str], value: Any) -> None:
    for step in path[:-1]:
        below = tree.setdefault(step, {})
        if not isinstance(below, dict):  # `facets.disabled` is a list and the start of other names
            return
        tree = below
    tree[path[-1]] = value


# ------------------------------------------------------------------------------------------ environment variables


def _from_variables(env: Mapping[str, str]) -> Tree:
    found: Tree = {}
    _client_variables(env, found)
    # the longest names first: what is given for a whole branch is stronger than what is given for its leaves
    for name in sorted((each for each in env if each.startswith(_VARIABLE)), reverse=True):
        try:
            value = msgspec.json.decode(env[name])
        except msgspec.DecodeError:
            value = env[name]
        one: Tree = {}
        _put(one, [_camel(step.lower()) for step in name.removeprefix(_VARIABLE).split("__")], value)
        found = _merged(found, one)
    return found


def _camel(text: str) -> str:
    first, *others = text.split("_")
    return first + "".join(each[:1].upper() + each[1:] for each in others)


def _client_variables(env: Mapping[str, str], found: Tree) -> None:
    """The variables of the Python client and of Airflow."""
    if url := env.get("OPENLINEAGE_URL"):
        found["transport"] = {"type": "http", "url": url}
        if endpoint := env.get("OPENLINEAGE_ENDPOINT"):
            found["transport"]["endpoint"] = endpoint
        if key := env.get("OPENLINEAGE_API_KEY"):
            found["transport"]["auth"] = {"type": "api_key", "apiKey": key}
    if namespace := env.get("OPENLINEAGE_NAMESPACE"):
        found["namespace"] = namespace
    for variable, kind in (("OPENLINEAGE_PARENT_ID", "parent"), ("OPENLINEAGE_ROOT_PARENT_ID", "rootParent")):
        namespace, _, rest = env.get(variable, "").rpartition("/")[0].rpartition("/")
        if namespace:
            found |= {f"{kind}JobNamespace": namespace, f"{kind}JobName": rest}
            found[f"{kind}RunId"] = env[variable].rpartition("/")[2]
    if is_true(env.get("OPENLINEAGE_DISABLED")):
        found["disabled"] = True


# --------------------------------------------------------------------------------------------------------- file


def _from_file(env: Mapping[str, str], folder: Path) -> Tree:
    """The first `openlineage.yml` of: OPENLINEAGE_CONFIG, the current folder, `~/.openlineage`."""
    named = env.get("OPENLINEAGE_CONFIG")
    home = env.get("HOME") or os.path.expanduser("~")
    places = [Path(named)] if named else []
    places += [folder / "openlineage.yml", Path(home) / ".openlineage" / "openlineage.yml"]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        return {}
    try:
        found = read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InputError) as err:
        raise ConfigError(f"cannot read OpenLineage's settings in {path}: {err}") from err
    if found is not None and not isinstance(found, dict):
        raise ConfigError(f"OpenLineage's settings in {path} are not a mapping")
    return _texts(found or {})


def _texts(tree: Tree) -> Tree:
    return {str(name): _texts(value) if isinstance(value, dict) else value for name, value in tree.items()}


# ------------------------------------------------------------------------------------------- Spark's configuration


def _from_conf(conf: Mapping[str, str]) -> Tree:
    given = {name.removeprefix(PREFIX): value for name, value in conf.items() if name.startswith(PREFIX)}
    if given.get("transport.type") == "http" and "transport.url" in given:
        given |= _of_url(given["transport.url"])
    found: Tree = {}
    for name in sorted(given, reverse=True):
        value: Any = given[name]
        if not value.strip():
            continue
        if value.startswith("[") and value.endswith("]"):
            value = several(value.replace(",", ";") if "'" in value else value)
        whole = next((prefix for prefix in _TAKEN_WHOLE if name.startswith(prefix)), None)
        path = [*whole.rstrip(".").split("."), name.removeprefix(whole)] if whole else name.split(".")
        _put(found, path, value)
    return found


def _of_url(text: str) -> dict[str, str]:
    """The settings inside a long URL: `http://h:5000/api/v1/namespaces/N/jobs/J/runs/R?api_key=K&app_name=A`."""
    url = urlsplit(text)
    found = {"transport.url": f"{url.scheme}://{url.netloc}"}
    long = re.fullmatch(r"/api/([^/]+)(?:/namespaces/([^/]+))?(?:/jobs/([^/]+))?(?:/runs/([^/]+))?(/.*)?", url.path)
    if long is not None and not long[5]:
        names = ("namespace", "parentJobName", "parentRunId")
        found |= {name: value for name, value in zip(names, long.groups()[1:]) if value}
        found["transport.endpoint"] = f"/api/{long[1]}/lineage"
    elif url.path.strip("/"):
        found["transport.endpoint"] = url.path
    for name, value in parse_qsl(url.query):
        found[_PARAMETERS.get(name, f"transport.urlParams.{name}")] = value
    return found | ({"transport.auth.type": "api_key"} if "transport.auth.apiKey" in found else {})


_PARAMETERS = {
    "timeout": "transport.timeoutInMillis",
    "api_key": "transport.auth.apiKey",
    "app_name": "appName",
    "disabled": "facets.disabled",
}
