"""Questions with known answers, by the package's own client on stdio."""

import pytest
from tests.mcp.questions import QUESTIONS, edges


@pytest.mark.slow
def test_fifty_questions_about_the_demo(demo_assistant):
    assert len(QUESTIONS) >= 50
    wrong = []
    for tool, arguments, look, expected in QUESTIONS:
        failed, answer = demo_assistant.call(tool, **arguments)
        found = answer if failed else look(answer)
        if failed or found != expected:
            wrong.append((tool, arguments, found, expected))
    times = sorted(demo_assistant.seconds, reverse=True)
    print(f"{len(times)} questions, the slowest: {[f'{name} {seconds:.2f} s' for seconds, name in times[:5]]}")
    assert wrong == []


SHOP = [
    ("search", {"text": "best_sellers"}, lambda a: a["data"]["names"][0], ["mart.best_sellers", "table"]),
    (
        "trace",
        {"name": "mart.best_sellers.revenue", "depth": 1},
        edges,
        ["mart.best_sellers.revenue < staging.lines.amount_eur AGGREGATION"],
    ),
    (
        "impact",
        {"name": "raw.customers.email", "depth": 1},
        edges,
        ["staging.customers.email_hash < raw.customers.email TRANSFORMATION"],
    ),
    ("stale", {}, lambda a: [each["table"] for each in a["data"]["stale"]], ["told.counted"]),
    ("rebuild_plan", {}, lambda a: [each["way"] for each in a["data"]["tables"]], ["groups"]),
    ("why", {"table": "told.counted"}, lambda a: a["citations"]["snapshots"], ["told.counted@1"]),
    ("run_sql", {"sql": "SELECT count(*) FROM told.notes"}, lambda a: a["data"]["rows"], [[3]]),
]


@pytest.mark.parametrize(("tool", "arguments", "look", "expected"), SHOP)
def test_questions_about_the_shop(shop, tool, arguments, look, expected):
    assert look(shop.ask(tool, **arguments)) == expected
