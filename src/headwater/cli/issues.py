"""The form of issues: for people, and as annotations of a pull request."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from headwater.cli.options import Flags
from headwater.cli.render import paragraph
from headwater.cli.terminal import width_of
from headwater.errors import Issue, Severity
from headwater.text import Source, counted

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_MOST = 20  # shown in full when not asked for more


def print_issues(issues: Sequence[Issue], sources: Mapping[str | None, Source], flags: Flags) -> None:
    """Say on stderr what was found: errors and warnings, and with --verbose everything."""
    if flags.quiet or flags.json:
        return
    shown = [issue for issue in issues if flags.verbose or issue.severity is not Severity.INFO]
    limit = len(shown) if flags.verbose else _MOST
    for issue in shown[:limit]:
        sys.stderr.write(render_issue(issue, sources.get(issue.source_name), flags, sys.stderr) + "\n\n")
    if len(shown) > limit:
        sys.stderr.write(f"… and {counted(len(shown) - limit, 'more issue')} (--verbose shows all)\n")


def render_issue(issue: Issue, source: Source | None, flags: Flags, stream: IO[str]) -> str:
    """An issue as a paragraph: code, message, place with caret, hint."""
    head = f"{issue.severity.value}[{issue.code.name}]: {issue.message}"
    hints = [f"hint: {issue.hint}"] if issue.hint else []
    source = source if issue.span is not None else None
    how: Any = {"color": flags.use_color(stream), "width": width_of(stream)}
    return paragraph(head, _COLORS[issue.severity], source, issue.span, hints, **how)


def github_annotations(issues: Iterable[Issue]) -> str:
    """Issues as GitHub workflow commands, which show them beside the lines of a pull request."""
    level = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
    lines = []
    for issue in issues:
        name = _data(issue.source_name or "").replace(":", "%3A").replace(",", "%2C")
        place = f"file={name}"
        if issue.span is not None:
            place += f",line={issue.span.line},col={issue.span.column}"
        message = f"{issue.message} ({issue.hint})" if issue.hint else issue.message
        lines.append(f"::{level[issue.severity]} {place},title={issue.code.name}::{_data(message)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
