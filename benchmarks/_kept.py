"""Results that are kept: `results/VERSION.json`, for each release what was measured, on what, and when.

{"quick": {NAME: {"date", "machine", "versions", "seconds", and what the benchmark printed}}, "full": {…}}
"""

import json
import os
import platform
import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
WORSE = 0.2  # by how much a ratio may be worse than the kept one: machines are noisy


@dataclass(frozen=True, slots=True)
class Line:
    """One number of a benchmark: a ratio, with the kept one, or a floor, or both."""

    benchmark: str
    what: str
    measured: float
    less: bool
    kept: float | None = None
    floor: float | None = None

    @property
    def missed(self) -> bool:
        return self.floor is not None and (self.measured > self.floor if self.less else self.measured < self.floor)

    @property
    def worse(self) -> bool:
        """More than 20 % worse than what was kept."""
        if self.kept is None:
            return False
        return self.measured > self.kept * (1 + WORSE) if self.less else self.measured < self.kept * (1 - WORSE)


def lines_of(outcome: dict[str, Any], kept: dict[str, Any]) -> list[Line]:
    """What a benchmark measured, floors beside the ratios of the same name."""
    name, less = outcome["benchmark"], set(outcome["less_is_better"])
    floors = {what: floor for what, (_, floor) in outcome["floors"].items()}
    numbers = outcome["ratios"] | {what: measured for what, (measured, _) in outcome["floors"].items()}
    before = kept.get("ratios", {})
    return [
        Line(name, what, measured, what in less, before.get(what), floors.get(what))
        for what, measured in numbers.items()
    ]


def read_results(release: str | None = None) -> tuple[str, dict[str, dict[str, Any]]]:
    """The kept results of a release, or of the newest that has any, and its version."""
    names = [release] if release else sorted((file.stem for file in RESULTS.glob("*.json")), key=_order)[-1:]
    for name in names:
        file = RESULTS / f"{name}.json"
        if file.is_file():
            return name, json.loads(file.read_text())
    return release or "", {}


def _order(name: str) -> list[int]:
    return [int(part) for part in name.split(".") if part.isdigit()]


def keep(mode: str, outcomes: dict[str, dict[str, Any]]) -> Path:
    """Put outcomes in the file of this version, in the place of those they measure anew."""
    release = version("headwater")
    _, results = read_results(release)
    results[mode] = dict(sorted((results.get(mode, {}) | outcomes).items()))
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{release}.json"
    file.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return file


def machine() -> dict[str, str]:
    """What this is run on, as far as it can be seen."""
    cpus = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":", 1)[1].strip() for line in cpus if line.startswith("model name")), "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpu": model or platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.0f} GB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """The versions of what we stand on and of the peers, as far as they are installed."""
    found = {"headwater": version("headwater")}
    for needed in requires("headwater") or ():
        if "extra ==" not in needed or "'bench'" in needed.replace('"', "'"):
            name = re.split(r"[^\w.-]", needed)[0]
            with suppress(PackageNotFoundError):
                found[name] = version(name)
    return found
