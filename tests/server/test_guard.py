"""Who is let in, and how much they may ask."""

import pytest
from tests.server.conftest import client_of

from headwater.errors import UsageError
from headwater.server.guard import COOKIE, Bucket
from headwater.server.options import Limits, ServerOptions

TOKEN = "correct horse battery"
ABOUT = "/api/v1/about"


@pytest.fixture
def locked(estate):
    with client_of(estate, token=TOKEN) as client:
        yield client


def test_other_machines_need_a_token():
    with pytest.raises(UsageError):
        ServerOptions("w", host="0.0.0.0")
    assert not ServerOptions("w", host="0.0.0.0", token=TOKEN).is_local
    assert all(ServerOptions("w", host=name).is_local for name in ("127.0.0.1", "localhost", "::1", "127.8.8.8"))
    assert TOKEN not in repr(ServerOptions("w", token=TOKEN))


def test_programs_show_the_token(locked):
    assert locked.get(ABOUT).status_code == 401
    assert locked.get(ABOUT, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert locked.get(ABOUT, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert locked.get("/assets/main.js").status_code == 401
    assert locked.get("/healthz").status_code == 200


def test_browsers_get_a_cookie_for_it(locked):
    away = locked.get("/", headers={"Accept": "text/html"}, follow_redirects=False)
    assert (away.status_code, away.headers["location"]) == (303, "/login")
    assert locked.post("/login", data={"token": "wrong"}).status_code == 401
    welcome = locked.post("/login", data={"token": TOKEN}, follow_redirects=False)
    cookie = welcome.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict"))
    assert TOKEN not in locked.cookies[COOKIE]
    assert locked.get(ABOUT).status_code == 200
    locked.cookies.clear()
    locked.cookies.set(COOKIE, "0" * 64)
    assert locked.get(ABOUT).status_code == 401


def test_the_token_does_not_stay_in_the_address(locked):
    answer = locked.get("/graph", params={"token": TOKEN, "select": "1+a+1"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/graph?select=1%2Ba%2B1")
    elsewhere = locked.get("//evil.example", params={"token": TOKEN}, follow_redirects=False)
    assert elsewhere.headers.get("location", "/x")[:2] != "//"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_other_sites_are_refused(client, headers):
    assert client.get(ABOUT, headers=headers).status_code == 403
    assert client.post("/api/v1/lineage", json={}, headers=headers).status_code == 403


def test_a_form_of_another_site_cannot_post(client):
    answer = client.post("/api/v1/sql", content=b'{"sql": "SELECT 1"}', headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


def test_names_that_are_not_local_are_refused(client):
    assert client.get(ABOUT, headers={"Host": "evil.example:8420"}).status_code == 421
    assert client.get(ABOUT, headers={"Host": "localhost:8420"}).status_code == 200


def test_every_answer_has_the_headers(client):
    for path in ("/", ABOUT, "/nothing"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_large_requests_are_refused(estate):
    with client_of(estate, limits=Limits(body=1_000)) as client:
        assert client.post("/api/v1/lineage", json={"x": "y" * 2_000}).status_code == 413

        def pieces():
            yield from [b"[" + b" " * 600] * 3

        headers = {"Content-Type": "application/json"}
        assert client.post("/api/v1/lineage", content=pieces(), headers=headers).status_code == 413
        assert client.get(ABOUT).status_code == 200


def test_who_asks_too_often_waits(estate):
    with client_of(estate, limits=Limits(reads=1)) as client:
        answers = [client.get("/healthz").status_code for _ in range(6)]
        assert answers[:4] == [200] * 4
        assert answers[-1] == 429


def test_a_bucket_fills_again():
    bucket = Bucket(2.0)
    assert [bucket.take("a", 0.0) for _ in range(8)] == [0.0] * 8
    assert bucket.take("a", 0.0) == 0.5
    assert bucket.take("b", 0.0) == 0.0
    assert bucket.take("a", 0.5) == 0.0


@pytest.mark.parametrize("name", ["..%2fapp.py", "%2e%2e/app.py", "....//app.py", "app.py", ".hidden.js", "x" * 5000])
def test_only_files_of_the_page_are_served(client, name):
    assert client.get(f"/assets/{name}").status_code == 404
