"""Pages of documentation, run as a reader would run them: what is shown in order, in one folder.

- ```console: lines that begin with `$ ` are commands, the others what they print. A command without output shown may
  print anything. `…` stands for any text, alone on a line for any lines; moments, durations and waves need not
  agree. A command whose comment says `exit code N` must end so, others with 0.
- ```python: run in one namespace for the page; with `>>>`, what is printed must agree.
- ```LANGUAGE title="FILE": the block is written to that file.
- `<!-- not run: REASON -->` before a block leaves it out; `<!-- run first: … -->` runs commands that are not shown.

`pytest --golden` writes the output anew where it differs.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headwater.cli.main import run

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
SHOWN = {"json", "sql", "text", "toml", "yaml", "mermaid", "html", "java"}  # languages that are read, not run
_FENCE = re.compile(r'( *)```(\w*)(?: title="([^"]+)")?$')
_MARK = re.compile(r"<!-- (not run|run first):\s+(.*?)\s*-->", re.DOTALL)
_LOOSE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\b\d+(\.\d+)? (s|ms|waves?|[KM]?B)\b")
_OWN_PROCESS = {"demo", "serve", "spark-run"}
_PORT = "8420"


@dataclass(frozen=True)
class Block:
    """A fenced block: `first` is the index of its first line in the page."""

    language: str
    title: str | None
    first: int
    lines: tuple[str, ...]
    indent: str = ""
    skipped: bool = False

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


@dataclass(frozen=True)
class Shown:
    """A command of a console block, and the output that the page shows for it, from line `first` of the page on."""

    command: str
    output: tuple[str, ...]
    first: int


def read_blocks(text: str) -> Iterator[Block]:
    """The blocks of a page, hidden commands included (as `console`)."""
    lines = text.splitlines()
    marks = {text[: found.end()].count("\n"): found for found in _MARK.finditer(text)}
    index, skipped = 0, False
    while index < len(lines):
        if index in marks:
            kind, words = marks[index].groups()
            skipped = kind == "not run"
            if not skipped:
                yield Block("hidden", None, index, tuple(words.splitlines()))
        elif opened := _FENCE.match(lines[index]):
            indent, language, title = opened.groups()
            end = next(i for i in range(index + 1, len(lines)) if lines[i].strip() == "```")
            body = tuple(line.removeprefix(indent) for line in lines[index + 1 : end])
            yield Block(language, title, index + 1, body, indent, skipped)
            index, skipped = end, False
        index += 1


def read_commands(block: Block) -> Iterator[Shown]:
    """The commands of a console block; a line that ends with a backslash goes on in the next."""
    command, output, first = "", [], 0
    for index, line in enumerate((*block.lines, "$ "), block.first):
        if command.endswith("\\"):
            command += "\n" + line
            first = index + 1
        elif line.startswith("$ "):
            if command:
                yield Shown(command, tuple(output), first)
            command, output, first = line.removeprefix("$ "), [], index + 1
        else:
            output.append(line)


def agrees(shown: tuple[str, ...], printed: list[str]) -> bool:
    """Whether what the page shows is what was printed."""
    parts = [
        r"(.*\n)*" if line == "…" else ".*".join(map(re.escape, _even(line).split("…"))) + "\n" for line in shown
    ]
    return re.fullmatch("".join(parts), "".join(f"{_even(line)}\n" for line in printed)) is not None


def _even(line: str) -> str:
    return _LOOSE.sub("so many", re.sub(r" {2,}", "  ", line)).rstrip()


@dataclass
class Page:
    """One page being run in the working folder. `golden`: the output of its commands is written into it."""

    path: Path
    golden: bool = False
    names: dict[str, object] = field(default_factory=dict)
    _servers: list[subprocess.Popen[str]] = field(default_factory=list)
    _port: str = _PORT
    _news: list[tuple[Shown, str, list[str]]] = field(default_factory=list)

    def run(self) -> None:
        kept, folder = dict(os.environ), Path.cwd()
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        os.environ["NO_COLOR"] = "1"
        try:
            for block in read_blocks(self.path.read_text(encoding="utf-8")):
                if not block.skipped:
                    self._run_block(block)
        finally:
            for server in self._servers:
                server.terminate()
                server.communicate()
            os.environ.clear()
            os.environ.update(kept)
            os.chdir(folder)
        if self.golden:
            self._write()

    def _run_block(self, block: Block) -> None:
        where = f"{self.path.relative_to(ROOT)}:{block.first}"
        if block.title is not None:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for shown in read_commands(block):
                self._check(shown, block.indent)
        elif block.language == "hidden":
            code, printed = self._bash("\n".join(block.lines))
            if code:
                pytest.fail(f"{where}\n{printed}", pytrace=False)
        elif block.language == "python" and ">>> " in block.text:
            self._doctest(block, where)
        elif block.language == "python":
            exec(compile("\n" * block.first + block.text, str(self.path), "exec"), self.names)

    def _doctest(self, block: Block, where: str) -> None:
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
        test = doctest.DocTestParser().get_doctest(block.text, self.names, where, str(self.path), block.first)
        report = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
        runner.run(test, out=report.write, clear_globs=False)
        self.names |= test.globs
        if runner.failures:
            pytest.fail(report.getvalue(), pytrace=False)

    def _check(self, shown: Shown, indent: str) -> None:
        wanted = re.search(r"  # .*\bexit code (\d)", shown.command)
        code, printed = self._call(shown.command.partition("  # ")[0].strip())
        place = f"{self.path.relative_to(ROOT)}:{shown.first}: {shown.command}"
        if code != int(wanted[1] if wanted else 0):
            pytest.fail(f"{place}\nended with {code}\n{printed}", pytrace=False)
        if shown.output and not agrees(shown.output, printed.splitlines()):
            if not self.golden:
                pytest.fail(f"{place}\nprints\n{printed}", pytrace=False)
            self._news.append((shown, indent, printed.splitlines()))

    def _call(self, command: str) -> tuple[int, str]:
        """Run a command; ours in this process, where it can be."""
        command = command.replace(f"127.0.0.1:{_PORT}", f"127.0.0.1:{self._port}")
        words = shlex.split(command) if not re.search(r"[|<>;&$`\n]", command.replace("$lineage", "")) else []
        if words[:1] == ["cd"]:
            os.chdir(words[1])
            return 0, ""
        if words[:1] == ["export"]:
            os.environ |= dict(word.split("=", 1) for word in words[1:])
            return 0, ""
        if words[:2] == ["headwater", "serve"]:
            return self._serve([word for word in words if word != "--open"])
        if words[:1] == ["headwater"] and words[1] not in _OWN_PROCESS:
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = run(words[1:])
            return code, said.getvalue()
        return self._bash(command)

    def _bash(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-ec", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240
        )
        return done.returncode, done.stdout

    def _serve(self, words: list[str]) -> tuple[int, str]:
        """Start a server on a port that is free; what the page asks of its port is asked of that one."""
        command = [sys.executable, "-m", *words, "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self._servers.append(server)
        assert server.stderr is not None
        line = server.stderr.readline()
        self._port = re.search(r"127\.0\.0\.1:(\d+)", line)[1]
        return 0, line.replace(self._port, _PORT)

    def _write(self) -> None:
        lines = self.path.read_text(encoding="utf-8").splitlines()
        for shown, indent, printed in reversed(self._news):
            lines[shown.first : shown.first + len(shown.output)] = [(indent + line).rstrip() for line in printed]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
