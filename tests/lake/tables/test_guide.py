"""The guide's snippets run as they are printed, in an empty folder; the format page names what is on disk."""

import re
from pathlib import Path

from headwater import Warehouse

DOCS = Path(__file__).parents[3] / "docs"


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", (DOCS / "guides" / "lake.md").read_text(), re.DOTALL)
    assert len(snippets) > 8
    space: dict[str, object] = {}
    for snippet in snippets:
        exec(snippet, space)


def test_the_format_page_names_every_kind_of_file(tmp_path):
    table = Warehouse(tmp_path).create_table("t", {"k": "INT", "v": "INT"}, primary_key="k", options={"bucket": "2"})
    table.write([(1, 1), (2, 2)])
    table.create_tag("x")
    table.delete_tag("x")
    table.create_tag("x")
    table.compact()
    table.expire_snapshots(keep_max=1)
    page = (DOCS / "spec" / "table.md").read_text()
    writer = table.writer()
    with table.lease():
        names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    writer.close()
    for name in names - {"LOCK"}:
        kind = re.sub(r"[0-9a-f]{16,}.*|\d+(-.*)?(\.log)?$|(?<=tag-).*", "", name.removeprefix("t."))
        assert kind in page, name
