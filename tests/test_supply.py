"""What Headwater runs on: licences that suit it, and a bill of materials that says so."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def supply():
    spec = importlib.util.spec_from_file_location("supply", ROOT / "docs" / "supply.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_licence_is_one_that_suits_us(supply):
    found = {name: supply.licence(each) for name, each in supply.needed().items()}
    assert len(found) > 40
    unsuited = {name: text for name, text in found.items() if not any(word in text for word in supply.ALLOWED)}
    assert unsuited.keys() <= supply.EXCEPTIONS.keys(), unsuited
    copyleft = {name for name, text in found.items() if "GPL" in text}
    assert copyleft <= supply.EXCEPTIONS.keys()


def test_the_page_of_licences_names_every_dependency(supply):
    page = supply.PAGE.read_text()
    core = supply.needed(extras=())
    assert len(core) > 15
    assert [name for name in core if f"| {name} |" not in page] == []


def test_the_bill_of_materials_names_what_there_is(supply, tmp_path):
    assert supply.main(["sbom", str(tmp_path)]) == 0
    (path,) = tmp_path.iterdir()
    bill = json.loads(path.read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    names = {each["name"]: each["version"] for each in bill["components"]}
    assert {"pyarrow", "pyspark", "msgspec", "obstore"} <= names.keys()
    refs = {each["bom-ref"] for each in bill["components"]}
    for each in bill["dependencies"]:
        assert set(each["dependsOn"]) <= refs
    assert len({each["ref"] for each in bill["dependencies"]}) == len(refs) + 1
