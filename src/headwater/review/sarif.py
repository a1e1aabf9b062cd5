"""A review as SARIF 2.1.0, which code hosts show beside the lines."""

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

import msgspec

from headwater.errors import IssueCode
from headwater.review.changes import ChangeKind, Risk
from headwater.review.review import Review
from headwater.review.told import headline, reach_of, readers_of

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Risk.BREAKING: "error", Risk.POSSIBLY: "warning", Risk.ADDITIVE: "note"}


def to_sarif(review: Review) -> str:
    """A log of one run: changes that are not additive, new issues and new violations, each with its place."""
    results = [*_changes(review), *_issues(review)]
    rules = sorted({each["ruleId"] for each in results})
    for each in results:
        each["ruleIndex"] = rules.index(each["ruleId"])
    driver = {
        "name": "headwater",
        "version": version("headwater"),
        "rules": [{"id": id, "shortDescription": {"text": _about(id)}} for id in rules],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return msgspec.json.encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}).decode()


def _changes(review: Review) -> Iterator[dict[str, Any]]:
    for change in review.changes:
        if change.risk is Risk.ADDITIVE:
            continue
        said = [f"{change.name}: {headline(change)}"]
        said += [f"read by {readers_of(change, review)}"] if change.readers else []
        said += [f"reaches {reach_of(change)}"] if change.reaches else []
        rule = change.kind.value.replace(" ", "-")
        yield _result(rule, _LEVELS[change.risk], "; ".join(said), change.file, change.line) | {
            "partialFingerprints": {"change/v1": f"{rule} {change.name}"}
        }


def _issues(review: Review) -> Iterator[dict[str, Any]]:
    for finding in review.findings:
        found = _result(finding.code, finding.severity, finding.message, finding.file, finding.line)
        if finding.column and "locations" in found:
            found["locations"][0]["physicalLocation"].setdefault("region", {})["startColumn"] = finding.column
        yield found
    for each in review.violations:
        way = f" by {' → '.join(each.way)}" if each.way else ""
        yield _result(each.code.name, "error", each.message + way, each.file, each.line)


def _result(rule: str, level: str, message: str, file: str | None, line: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": message}}
    if file is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(file), "uriBaseId": "%SRCROOT%"}}
        if line:
            place["region"] = {"startLine": line}
        found["locations"] = [{"physicalLocation": place}]
    return found


def _about(rule: str) -> str:
    """The description of a rule: a kind of change, or the code of an issue."""
    if rule in IssueCode.__members__:
        return IssueCode[rule].explanation
    kind = ChangeKind(rule.replace("-", " "))
    return f"A {kind.value}." if kind.value[-1] == "d" else f"{kind.value.capitalize()}."
