"""Groups of datasets: files that differ by date or partition are one dataset, tables of a database or folder
are a region, and the tables that the graph itself is kept in are shown to those only who ask for them."""

import re
from collections import Counter
from collections.abc import Iterable

from headwater.graph.tables import DATABASE

_ELSEWHERE = 12  # folders of files above which their parents are the regions
_MOST = 40  # regions: of more, the largest, and the others of each project together
_VARIES = re.compile(
    r"^(?:[^=/]+=[^=/]+|\d{4}-?\d{2}(?:-?\d{2})?(?:[T_-]?\d{2,6})?Z?|\d+|part-\d+.*)(?P<ending>\.\w+)?$"
)


def is_own(dataset: str) -> bool:
    """Return whether a dataset is one of the tables that lineage is kept in."""
    return dataset.startswith(f"{DATABASE}.")


def families(names: Iterable[str]) -> dict[str, str]:
    """For each file that has brothers which differ by date, number or partition only, the pattern of all of them.

    >>> families(["raw/2026-03-01/a.csv", "raw/2026-03-02/a.csv", "raw/b.csv"])
    {'raw/2026-03-01/a.csv': 'raw/*/a.csv', 'raw/2026-03-02/a.csv': 'raw/*/a.csv'}
    """
    patterns = {name: "/".join(map(_part, name.split("/"))) for name in names if "/" in name}
    many = Counter(patterns.values())
    return {name: pattern for name, pattern in patterns.items() if many[pattern] > 1 and pattern != name}


def _part(part: str) -> str:
    varies = _VARIES.match(part)
    return "*" + (varies["ending"] or "") if varies else part


def region_of(dataset: str) -> str:
    """The database of a table, or the folder of a file; empty for a bare name.

    >>> region_of("shop.orders"), region_of("s3://lake/raw/*/a.csv"), region_of("recent")
    ('shop', 's3://lake/raw', '')
    """
    if "/" not in dataset:
        return dataset.rpartition(".")[0]
    folder = dataset.rpartition("/")[0]
    while folder.endswith("/*"):
        folder = folder[:-2]
    return folder


def regions(names: Iterable[str]) -> dict[str, str]:
    """The region of each dataset; where there are many folders, those within one parent are one region, and where
    there are many regions, the small ones of a project are one: `project.*`, and all that are small still `*`."""
    found = {name: region_of(name) for name in names}
    folders = {region for region in found.values() if "/" in region}
    while len(folders) > _ELSEWHERE:
        deepest = max(folder.count("/") for folder in folders)
        shorter = {folder: folder.rpartition("/")[0] for folder in folders if folder.count("/") == deepest}
        if not all(shorter.values()):
            break
        found = {name: shorter.get(region, region) for name, region in found.items()}
        folders = {shorter.get(folder, folder) for folder in folders}
        if deepest == 1:
            break
    large = sorted(Counter(found.values()).items(), key=lambda item: (-item[1], item[0]))[:_MOST]
    kept = {region for region, _ in large}
    found = {name: region if region in kept else _others(region) for name, region in found.items()}
    sizes = Counter(found.values())
    return {
        name: region if region in kept or sizes[region] >= large[-1][1] else "*" for name, region in found.items()
    }


def _others(region: str) -> str:
    """The region of the small regions beside one: those of its project or parent folder."""
    return region[: max(region.rfind("."), region.rfind("/")) + 1] + "*"
