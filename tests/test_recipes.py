"""The recipes of CONTRIBUTING: short, of at most three files, with files and names that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECTION = (ROOT / "CONTRIBUTING.md").read_text().split("## Recipes")[1].split("\n## ")[0]
RECIPES = {found[1]: found[0] for found in re.finditer(r"\*\*(.+?)\.\*\* .*?(?=\n\n|\Z)", SECTION, re.DOTALL)}


def test_there_is_a_recipe_for_everything_that_people_add():
    asked = [
        "syntax",
        "node",
        "sink",
        "engine",
        "strategy",
        "type",
        "format",
        "policy",
        "review",
        "store",
        "code",
        "command",
    ]
    assert len(RECIPES) == len(asked)
    for word, title in zip(asked, RECIPES):
        assert word in title.replace("An issue code, or an error", "code")


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_is_short_and_its_files_are_there(title):
    text = RECIPES[title]
    files = [word for word in re.findall(r"`([^`]+)`", text) if "/" in word]
    assert len(text.splitlines()) <= 6
    assert 1 <= len({file for file in files if file.startswith("src/")}) <= 3
    assert [file for file in files if not (ROOT / file).exists()] == []


@pytest.mark.parametrize("title", RECIPES)
def test_the_names_of_a_recipe_are_in_its_files(title):
    words = re.findall(r"`([^`]+)`", RECIPES[title])
    sources = [ROOT / word for word in words if word.startswith("src/")]
    files = [file for source in sources for file in (source.glob("*.py") if source.is_dir() else [source])]
    code = "\n".join(file.read_text() for file in files)
    names = [word for word in words if re.fullmatch(r"@?[A-Za-z_]+", word)] + [
        word.split("(")[0] for word in words if re.fullmatch(r"@\w+\(.*\)", word)
    ]
    assert [name for name in names if name not in code] == []
