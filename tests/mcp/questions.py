"""Questions about the demo's warehouse: a tool, its arguments, what of the answer is looked at, and what that is."""


def edges(answer):
    """Every edge, as `to.column < from.column KIND`."""
    return [
        f"{pair['to']}.{row[0]} < {pair['from']}.{row[1]} {row[2]}"
        for pair in answer["data"]["edges"]
        for row in pair["columns"]
    ]


def places(answer):
    return {row[4] for pair in answer["data"]["edges"] for row in pair["columns"] if len(row) > 4 and row[4]}


def ends(answer, side):
    return sorted({pair[side].rpartition("/")[2] for pair in answer["data"]["edges"]})


def total(answer):
    return answer["total"]


def rows(answer):
    return answer["data"]["rows"]


def names(answer):
    return [name for name, _ in answer["data"]["names"]]


def columns(answer):
    return [each["name"] for each in answer["data"]["columns"]]


def made(answer, dataset):
    return [each for each in answer["data"]["made"] if each["dataset"] == dataset]


def inputs(answer):
    return {each["dataset"]: each["count"] for each in answer["data"]["hops"][0]["inputs"]}


def findings(answer):
    return [each["code"] for each in answer["data"]["findings"]]


RANKING = "report.ranking.revenue"
SHOP_ITEMS = "bronze.items.unit_price"
NL = {"day": "2026-03-01", "country": "NL"}
QUESTIONS = [
    # search
    ("search", {"text": "revenue"}, lambda a: names(a)[:2], ["gold.revenue", "gold.revenue.revenue"]),
    ("search", {"text": "favourites"}, lambda a: names(a)[0], "marketing.favourites"),
    ("search", {"text": "email_hash"}, lambda a: "silver.customers.email_hash" in names(a), True),
    ("search", {"text": "revenu buyerz"}, lambda a: names(a), ["gold.revenue.buyers"]),
    ("search", {"text": "no such thing at all"}, total, 0),
    # table
    ("table", {"name": "gold.revenue"}, columns, ["day", "country", "revenue", "buyers"]),
    ("table", {"name": "gold.revenue"}, lambda a: a["data"]["upstream"], ["silver.customers", "silver.lines"]),
    ("table", {"name": "gold.revenue"}, lambda a: a["data"]["downstream"], ["report.country_month"]),
    ("table", {"name": "gold.revenue"}, lambda a: a["citations"]["snapshots"], ["gold.revenue@3"]),
    ("table", {"name": "gold.revenue"}, lambda a: a["data"]["primary_key"], ["day", "country"]),
    ("table", {"name": "report.ranking"}, columns, ["country", "month", "revenue", "place"]),
    (
        "table",
        {"name": "report.ranking"},
        lambda a: [each["place"] for each in a["data"]["written_by"]],
        ["reports/snowflake/monthly.sql:8"],
    ),
    ("table", {"name": "bronze.orders"}, lambda a: "channel" in columns(a), True),
    # trace
    ("trace", {"name": RANKING, "depth": 1}, edges, [f"{RANKING} < report.country_month.revenue IDENTITY"]),
    ("trace", {"name": RANKING}, lambda a: ends(a, "from")[-1], "silver.lines"),
    ("trace", {"name": RANKING}, lambda a: "items.csv" in ends(a, "from"), True),
    ("trace", {"name": RANKING}, lambda a: "reports/snowflake/monthly.sql:3" in places(a), True),
    ("trace", {"name": "marketing.favourites.skus"}, lambda a: a["data"]["starts"], ["marketing.favourites.skus"]),
    (
        "trace",
        {"name": "silver.lines.amount", "depth": 1},
        lambda a: sorted(edges(a)),
        [f"silver.lines.amount < bronze.items.{each} TRANSFORMATION" for each in ("quantity", "unit_price")],
    ),
    (
        "trace",
        {"name": "gold.revenue.revenue", "depth": 1, "influence": ["row"]},
        lambda a: "gold.revenue.* < silver.lines.status FILTER" in edges(a),
        True,
    ),
    ("trace", {"name": "report.country_month.per_buyer", "depth": 1, "as_of": "@0"}, total, 2),
    # impact
    ("impact", {"name": SHOP_ITEMS}, total, 7),
    ("impact", {"name": SHOP_ITEMS}, lambda a: "report.ranking" in ends(a, "to"), True),
    ("impact", {"name": SHOP_ITEMS}, lambda a: "marketing.favourites" in ends(a, "to"), True),
    ("impact", {"name": SHOP_ITEMS, "as_of": "@-1"}, total, 6),
    ("impact", {"name": "report.ranking"}, total, 0),
    ("impact", {"name": "bronze.customers.email", "by": "table"}, lambda a: len(a["data"]["edges"]), 4),
    # path
    (
        "path",
        {"source": "gold.revenue.buyers", "target": "report.country_month.per_buyer"},
        edges,
        ["report.country_month.per_buyer < gold.revenue.buyers AGGREGATION"],
    ),
    ("path", {"source": SHOP_ITEMS, "target": RANKING, "influence": ["value"]}, total, 4),
    ("path", {"source": "report.ranking", "target": "bronze.items"}, total, 0),
    # neighbourhood
    (
        "neighbourhood",
        {"name": "gold.revenue"},
        lambda a: (ends(a, "from"), ends(a, "to")),
        (["gold.revenue", "silver.customers", "silver.lines"], ["gold.revenue", "report.country_month"]),
    ),
    ("neighbourhood", {"name": "gold.revenue", "up": 2, "down": 2, "by": "table"}, total, 7),
    ("neighbourhood", {"name": "gold.revenue", "up": 0}, lambda a: ends(a, "from"), ["gold.revenue"]),
    # diff and states
    ("diff", {"since": "@-1"}, total, 5),
    (
        "diff",
        {"since": "@-1"},
        lambda a: [each for each in a["data"]["changes"] if each[0] == "column"],
        [
            ["column", "added", "report.country_month.per_buyer"],
            ["column", "removed", "report.country_month.most_buyers"],
        ],
    ),
    ("diff", {"since": "@0"}, total, 0),
    ("states", {"limit": 1}, lambda a: a["data"]["states"][0]["sources"], ["reports/bigquery", "reports/snowflake"]),
    # why
    ("why", {"table": "gold.revenue"}, lambda a: made(a, "gold.revenue")[0]["operation"], "OVERWRITE"),
    (
        "why",
        {"table": "gold.revenue"},
        lambda a: [f"{each['dataset']}@{each['snapshot']}" for each in a["data"]["made"][0]["inputs"]],
        ["silver.lines@3", "silver.customers@3"],
    ),
    ("why", {"table": "gold.revenue", "as_of": "1"}, lambda a: a["citations"]["snapshots"], ["gold.revenue@1"]),
    ("why", {"table": "silver.lines"}, lambda a: len(made(a, "bronze.items")), 3),
    # the rows behind a row
    ("why_rows", {"table": "gold.revenue", "row": NL}, inputs, {"silver.lines": 262, "silver.customers": 46}),
    (
        "why_rows",
        {"table": "gold.revenue", "row": NL},
        lambda a: a["data"]["hops"][0]["rows"]["rows"],
        [["2026-03-01", "NL", 37363.03, 46]],
    ),
    (
        "why_rows",
        {"table": "silver.lines", "row": {"order_id": "20", "sku": "SKU-19"}},
        lambda a: (inputs(a), a["citations"]["snapshots"]),
        ({"bronze.items": 1, "bronze.orders": 1}, ["bronze.items@3", "bronze.orders@3", "silver.lines@3"]),
    ),
    # behind
    (
        "stale",
        {},
        lambda a: [(each["table"], each["input"], each["changed_rows"]) for each in a["data"]["stale"]],
        [
            ("silver.customers", "bronze.customers", 142),
            ("silver.lines", "bronze.items", 965),
            ("silver.lines", "bronze.orders", 401),
        ],
    ),
    ("rebuild_plan", {}, total, 0),
    # SQL
    (
        "run_sql",
        {"sql": "SELECT country, sum(revenue) FROM gold.revenue GROUP BY 1 ORDER BY 1"},
        rows,
        [["DE", 60388.18], ["ES", 81538.31], ["FR", 66401.89], ["NL", 73887.98]],
    ),
    (
        "run_sql",
        {"sql": "SELECT round(sum(revenue), 2) FROM gold.revenue", "as_of": "@-1"},
        rows,
        [[279797.7]],
    ),
    ("run_sql", {"sql": "SELECT count(*) FROM gold.revenue VERSION AS OF 1"}, rows, [[4]]),
    (
        "lineage_of_sql",
        {"sql": "CREATE TABLE x AS SELECT revenue / buyers AS each FROM gold.revenue", "known": "lake"},
        lambda a: [edge[1:4] for edge in a["data"]["edges"]],
        [["x.each", f"gold.revenue.{name}", "TRANSFORMATION"] for name in ("revenue", "buyers")],
    ),
    ("check_sql", {"sql": "SELECT amonut FROM silver.lines", "known": "lake"}, findings, ["UNKNOWN_COLUMN"]),
    ("check_sql", {"sql": "SELECT amount FROM silver.lines", "known": "graph"}, findings, []),
]
