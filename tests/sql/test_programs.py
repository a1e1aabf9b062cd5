"""Scripts that run code: what golden cases cannot say of places, several scripts and computed texts."""

import pytest
from sqlglot import parse_one

import headwater
from headwater.analysis.analyze import Request, analyze_sources
from headwater.errors import IssueCode
from headwater.lineage.statement import Status
from headwater.sql.branches import CodeBranch
from headwater.sql.evaluation import Evaluation
from headwater.sql.texts import NULL, Texts, is_hole
from headwater.text import Source

FUNCTION = (
    "CREATE FUNCTION put() RETURNS trigger AS $$ BEGIN INSERT INTO log (id) VALUES (NEW.id); END $$ LANGUAGE plpgsql;"
)
TRIGGER = "CREATE TRIGGER one AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION put();"


def edges(texts: list[str], dialect: str) -> list[str]:
    sources = [Source(text, f"{number}.sql") for number, text in enumerate(texts)]
    result = analyze_sources(sources, Request(dialect=dialect, engine="sqlglot"))
    return [f"{edge.target} <- {edge.source}" for statement in result.statements for edge in statement.edges]


@pytest.mark.parametrize(
    "texts", [[FUNCTION, TRIGGER], [TRIGGER, FUNCTION], [FUNCTION + TRIGGER], [TRIGGER + FUNCTION]]
)
def test_a_trigger_finds_its_function_in_any_script(texts):
    assert edges(texts, "postgres") == ["log.id <- t.id"]


def test_an_execute_without_its_string_costs_no_other_statement():
    body = "EXECUTE IMMEDIATE ; INSERT INTO d (x) SELECT a FROM t ;"
    result = headwater.analyze(f"CREATE PROCEDURE p IS BEGIN {body} END ;", dialect="oracle")
    assert IssueCode.INTERNAL_ERROR not in {issue.code for issue in result.issues}
    assert [str(edge.target) for statement in result.statements for edge in statement.edges] == ["d.x"]


def test_a_procedure_is_called_from_another_script():
    procedure = "CREATE PROCEDURE p @tab SYSNAME AS EXEC('INSERT INTO d (x) SELECT a FROM ' + @tab)"
    assert edges([procedure, "EXEC p 't'"], "tsql") == ["d.x <- t.a"]


def test_a_database_that_a_string_does_not_tell_is_unknown():
    text = "CREATE PROCEDURE p @db SYSNAME AS EXEC('USE ' + @db + '; INSERT INTO d (x) SELECT a FROM t')"
    assert edges([text], "tsql") == ["?.d.x <- ?.t.a"]


def test_what_is_executed_is_placed_at_the_execution():
    text = "DECLARE @s NVARCHAR(MAX)\nSET @s = N'INSERT INTO d (x)\n\nSELECT a FROM t'\nEXEC(@s)\n"
    statement = headwater.analyze(text, "tsql").statements[-1]
    assert statement.statement_type == "INSERT"
    assert text[statement.span.start : statement.span.end] == "EXEC(@s)"
    assert [edge.source_span for edge in statement.edges] == [None]


def test_an_error_in_an_executed_string_is_placed_at_the_execution():
    text = "SELECT 1;\nEXECUTE IMMEDIATE 'INSERT INTO d (x) SELEC a FORM' || ' t t t';"
    issues = headwater.analyze(text, "snowflake").issues
    assert [(issue.code, issue.span.line) for issue in issues] == [(IssueCode.PARSE_ERROR, 2)]


def test_an_unknown_string_says_what_it_depends_on():
    text = "CREATE PROCEDURE p @tab SYSNAME AS EXEC('INSERT INTO d (x) SELECT a FROM ' + @tab)"
    (statement,) = headwater.analyze(text, "tsql").statements
    (issue,) = statement.issues
    assert (statement.status, str(statement.target)) == (Status.TABLE_ONLY, "d")
    assert issue.code is IssueCode.UNSUPPORTED_STATEMENT
    assert "`@tab`" in issue.message
    assert issue.hint


@pytest.mark.parametrize(
    ("hole", "status"),
    [
        ("SELECT a FROM t WHERE k = ' + @v", Status.APPROXIMATE),
        ("SELECT a FROM t WHERE k IN (1, ' + @v + ')'", Status.APPROXIMATE),
        ("SELECT a FROM t WHERE k = ''' + @v + ''''", Status.RESOLVED),
        ("SELECT a FROM t WHERE ' + @v", Status.TABLE_ONLY),
        ("SELECT a FROM t_' + @v", Status.TABLE_ONLY),
        ("SELECT a FROM ' + @v + '_t'", Status.TABLE_ONLY),
        ("SELECT ' + @v + ', a FROM t'", Status.TABLE_ONLY),
        ("SELECT a FROM t ' + @v", Status.TABLE_ONLY),
        ("SELECT a FROM [' + @v + ']'", Status.TABLE_ONLY),
        ("SELECT a FROM t WHERE k = s.' + @v", Status.TABLE_ONLY),
        ("SELECT a FROM t WHERE k = ' + @v + '.b'", Status.TABLE_ONLY),
        ("SELECT a FROM t WHERE k = ' + @v + '(b)'", Status.TABLE_ONLY),
    ],
)
def test_the_place_of_an_unknown_part_decides(hole, status):
    text = f"CREATE PROCEDURE p @v NVARCHAR(9) AS EXEC('INSERT INTO d (x) {hole})"
    (statement,) = headwater.analyze(text, "tsql").statements
    assert statement.status is status


@pytest.mark.parametrize(
    ("dialect", "expression", "values"),
    [
        ("tsql", "N'a' + CHAR(10) + 'b'", ["a\nb"]),
        ("tsql", "QUOTENAME('x]y')", ["[x]]y]"]),
        ("tsql", "CASE WHEN @p = 1 THEN 'a' ELSE 'b' END + 'c'", ["ac", "bc"]),
        ("tsql", "IIF(@p = 1, 'a', 'b')", ["a", "b"]),
        ("tsql", "IIF('x' <> 'y', 'a', 'b')", ["a"]),
        ("tsql", "ISNULL(NULL, 'a')", ["a"]),
        ("tsql", "'a' + NULL", ["a" + NULL]),
        ("tsql", "CONCAT('a', NULL, 'b')", ["ab"]),
        ("tsql", "CONVERT(NVARCHAR(20), 5) + SPACE(2) + REPLICATE('x', 2)", ["5  xx"]),
        ("postgres", "format('%I.%s %L %%', 'Ab', 'c', 'it''s')", ["\"Ab\".c 'it''s' %"]),
        ("postgres", "format('%2$s%1$s', 'a', 'b')", ["ba"]),
        ("postgres", "quote_ident('a b') || quote_literal('c')", ["\"a b\"'c'"]),
        ("postgres", "$$a$$ || E'\\n' || 'b'::text", ["a\nb"]),
        ("oracle", "q'[it's]' || TO_CHAR(1) || UPPER('a')", ["it's1A"]),
        ("mysql", "CONCAT_WS('.', 'a', TRIM(' b '), REPLACE('cx', 'x', ''))", ["a.b.c"]),
        ("bigquery", "FORMAT('%s_%s', 'a', 'b')", ["a_b"]),
    ],
)
def test_texts_are_computed(dialect, expression, values):
    node = parse_one(f"SELECT {expression}", dialect=dialect).expressions[0]
    assert list(Evaluation(Texts(), {}, (), (), dialect).values(node)) == values


@pytest.mark.parametrize(
    ("dialect", "expression"),
    [
        ("tsql", "1 + 2"),
        ("tsql", "@i + 1"),
        ("tsql", "CAST('abcdef' AS VARCHAR(3))"),
        ("tsql", "REPLACE('aA', 'a', 'x')"),
        ("tsql", "GETDATE()"),
        ("postgres", "format('%10s', 'a')"),
        ("postgres", "substr('abc', 2)"),
        ("oracle", "TO_CHAR(SYSDATE, 'YYYY')"),
    ],
)
def test_what_is_not_computed_is_a_hole(dialect, expression):
    node = parse_one(f"SELECT {expression}", dialect=dialect).expressions[0]
    (value,) = Evaluation(Texts(), {}, (), (), dialect).values(node)
    assert is_hole(value)


def test_a_variable_has_the_texts_that_reach_a_place():
    texts, first, other = Texts(), CodeBranch(1), CodeBranch(1, 1, last=True)
    texts.give("s", ["before"], ())
    texts.give("s", ["one"], (first,))
    assert texts.of("s", (first,)) == ("one",)
    assert texts.of("s", (other,)) == ("before",)
    assert texts.of("s", ()) == ("one", "before")
    texts.give("s", ["two"], (other,))
    assert texts.of("s", ()) == ("two", "one")
    texts.give("s", ["after"], ())
    assert texts.of("s", ()) == ("after",)


def test_too_many_alternatives_are_a_hole():
    texts = Texts()
    for number in range(20):
        texts.give("s", [str(number)], (CodeBranch(number),))
    assert [is_hole(value) for value in texts.of("s", ())] == [True]


def test_strings_that_execute_themselves_end():
    text = "DECLARE @s NVARCHAR(MAX) = N'x'; SET @s = N'EXEC(''' + @s + N''')';" + "EXEC(@s);" * 3
    assert headwater.analyze(
        "CREATE PROC p AS EXEC p; EXEC q\nGO\nCREATE PROC q AS EXEC p\nGO\nEXEC q", "tsql"
    ).statements
    assert headwater.analyze(text, "tsql").statements


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("tsql", "DECLARE @s NVARCHAR(MAX) = N'{}'; EXEC other @s OUTPUT; EXEC(@s)"),
        ("tsql", "DECLARE @s NVARCHAR(MAX) = N'{}'; UPDATE t SET @s = a; EXEC(@s)"),
        ("tsql", "DECLARE @s NVARCHAR(MAX) = N'{}'; FETCH NEXT FROM c INTO @s; EXEC(@s)"),
        ("oracle", "DECLARE s VARCHAR2(9) := '{}'; BEGIN other(s); EXECUTE IMMEDIATE s; END;"),
        ("postgres", "DO $$ DECLARE s text := '{}'; BEGIN CALL other(s); EXECUTE s; END $$"),
        ("postgres", "DO $$ DECLARE s text := '{}'; BEGIN UPDATE q SET a = 1 RETURNING b INTO s; EXECUTE s; END $$"),
        ("postgres", "DO $$ DECLARE s text := '{}'; BEGIN FOR s IN SELECT a FROM q LOOP EXECUTE s; END LOOP; END $$"),
        ("mysql", "SET @s = '{}'; CALL other(@s); PREPARE p FROM @s; EXECUTE p;"),
        ("mysql", "SET @s = '{}'; SELECT @s := a FROM q; PREPARE p FROM @s; EXECUTE p;"),
    ],
)
def test_a_variable_that_something_else_may_have_set_is_not_known(dialect, text):
    result = headwater.analyze(text.format("INSERT INTO d (x) SELECT a FROM t"), dialect, engine="sqlglot")
    assert "d" not in [str(statement.target) for statement in result.statements]
    assert IssueCode.UNSUPPORTED_STATEMENT in [issue.code for issue in result.statements[-1].issues]
