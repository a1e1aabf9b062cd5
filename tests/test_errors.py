import re
from pathlib import Path

import pytest

from headwater import errors
from headwater.errors import HeadwaterError, InputError, IssueCode, NotFoundError, error_classes, explain
from headwater.text import Source

PAGE = (Path(__file__).parent.parent / "docs" / "errors.md").read_text(encoding="utf-8")


def test_codes_classes_and_docs_are_one_to_one():
    classes = list(error_classes())
    codes = [cls.code for cls in classes]
    assert len(set(codes)) == len(codes)
    documented = re.findall(r"^### `([^`]+)`", PAGE, re.MULTILINE)
    assert documented == codes + [code.name for code in IssueCode]
    assert re.findall(r"headwater\.errors\.(\w+)", PAGE) == [cls.__name__ for cls in classes]


def test_every_code_is_kebab_case_and_explained():
    for cls in error_classes():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", cls.code)
        assert cls.__doc__, cls
        assert "code" in vars(cls), f"{cls} must have a code of its own"
    explanations = [code.explanation for code in IssueCode]
    assert len(set(explanations)) == len(explanations), "equal values would make one code an alias of another"


def test_explain_ignores_case_and_suggests():
    assert explain("unknown_table") == IssueCode.UNKNOWN_TABLE.explanation
    with pytest.raises(NotFoundError) as caught:
        explain("no-jav")
    assert caught.value.hint == "did you mean `no-java`?"


def test_place_of_an_error():
    source = Source("SELECT x", "q.sql")
    assert InputError("bad", source=source, span=source.span(7, 8)).place == "q.sql:1:8"
    assert InputError("bad", source=source).place == "q.sql"
    assert InputError("bad").place is None


def test_all_errors_live_in_one_module():
    assert {cls.__module__ for cls in error_classes()} == {errors.__name__}
    assert issubclass(NotFoundError, HeadwaterError)
