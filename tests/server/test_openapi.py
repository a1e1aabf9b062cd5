"""The API against its own description: whatever fits is answered, whatever does not is refused, nothing breaks."""

import json

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import examples
from tests.server.conftest import client_of

from headwater.server.app import endpoints
from headwater.server.openapi import openapi_document

DOCUMENT = openapi_document(endpoints())
ANSWERS = {each.path: each.answer for each in endpoints()}
GETS = sorted(path for path, operations in DOCUMENT["paths"].items() if "get" in operations)
NAMES = [
    "raw.orders",
    "stg.orders",
    "mart.revenue.total",
    "stg.*",
    "1+stg.orders+1",
    "lineage.edges",
    "raw.orders$files",
]
MOMENTS = ["1", "2", "@-1", "2 hours ago", "2020-01-01", "9" * 30, "²", "-1", "yesterday", "@-99999999999999999999"]
QUERIES = [
    "SELECT * FROM raw.orders",
    "SELECT * FROM raw.orders VERSION AS OF 1",
    "SHOW TABLES",
    "SELECT 1/0",
    "SELECT [1, 2], {'a': 1}, '2020-01-01'::DATE, 'x'::BLOB, 'nan'::DOUBLE",
]
odd = st.text(max_size=30) | st.sampled_from(
    ["", "\x00", "‮", "<script>", "../../etc/passwd", "%00", "a" * 5_000, "😀"]
)


def values(schema):
    """Values for a parameter: many that fit, some that do not."""
    if "anyOf" in schema:
        return st.one_of([values(each) for each in schema["anyOf"] if each.get("type") != "null"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"]) | odd
    if schema.get("type") == "array":
        return st.lists(values(schema["items"]), max_size=3)
    if schema.get("type") == "integer":
        return st.integers(-2, 2_000).map(str) | odd
    if schema.get("type") == "boolean":
        return st.sampled_from(["true", "false", "1", "maybe"])
    return st.sampled_from(NAMES + MOMENTS) | odd


@st.composite
def questions(draw, path):
    asked = {}
    for parameter in DOCUMENT["paths"][path]["get"]["parameters"]:
        if parameter["required"] or draw(st.booleans()):
            asked[parameter["name"]] = draw(values(parameter["schema"]))
    return asked


@pytest.mark.property
@pytest.mark.parametrize("path", GETS)
def test_no_question_breaks_the_server(client, path):
    @settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
    @given(questions(path))
    def ask(question):
        response = client.get(path, params=question)
        assert str(response.status_code) in DOCUMENT["paths"][path]["get"]["responses"], (question, response.text)
        assert response.status_code not in (429, 503)
        if response.headers["content-type"] == "application/json" and response.status_code == 200:
            msgspec.json.decode(response.content, type=ANSWERS[path])

    ask()


@pytest.mark.property
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(QUERIES) | st.text(max_size=60) | st.sampled_from(QUERIES).flatmap(lambda q: st.just(q[::2] + q))
)
def test_no_sql_breaks_the_server(client, sql):
    response = client.post("/api/v1/sql", json={"sql": sql})
    assert response.status_code in (200, 400, 404, 408, 422), response.text


words = st.sampled_from(["run", "job", "runId", "namespace", "name", "eventTime", "outputs", "facets"])
leaves = st.none() | st.booleans() | st.floats() | st.text(max_size=8)
bodies = st.recursive(leaves, lambda some: st.lists(some, max_size=4) | st.dictionaries(words, some))


@pytest.mark.property
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(bodies)
def test_no_body_breaks_the_receiver(client, body):
    headers = {"Content-Type": "application/json"}
    response = client.post("/api/v1/lineage", content=json.dumps(body).encode(), headers=headers)
    assert response.status_code in (200, 201, 400), response.text


def test_the_document_names_every_route(estate):
    with client_of(estate) as client:
        assert client.get("/api/v1/openapi.json").json() == json.loads(json.dumps(DOCUMENT))
    assert {"/api/v1/lineage", "/api/v1/picture", "/api/v1/sql"} <= DOCUMENT["paths"].keys()
    assert all(each["get"]["summary"] for each in DOCUMENT["paths"].values() if "get" in each)


def test_every_answer_has_a_form():
    for path, operations in DOCUMENT["paths"].items():
        for operation in operations.values():
            schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
            assert "$ref" in schema or schema["type"] == "array", path
