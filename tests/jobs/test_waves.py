"""Waves give what reading the scripts in order gives, whatever the scripts do to each other."""

import random

import pytest

from headwater.analysis.analyze import Request
from headwater.analysis.schemas import import_schema
from headwater.graph.collect import collect
from headwater.graph.facts import Facts, add_schema
from headwater.graph.store import facts_to_arrow
from headwater.graph.tables import COLUMNS, EDGES, ISSUES, STATEMENTS
from headwater.jobs.harvest.runner import Runner
from headwater.jobs.harvest.spark_executor import decode_tasks, encode_tasks
from headwater.jobs.harvest.unit_analysis import HarvestSetting
from headwater.jobs.harvest.units import Script, cut_units, whole_unit, with_preludes
from headwater.jobs.harvest.waves import Waves, longest_chains, settle
from headwater.text import Source
from tests.jobs import estates

ESTATES = [
    *((seed, "postgres", schema) for seed in range(18) for schema in (False, True)),
    *((seed, "snowflake", True) for seed in range(100, 110)),
    *((seed, "bigquery", True) for seed in range(200, 212)),
]


class Dawdler:
    """A crew that does some of what it was given, in an order of its own, and the rest another time."""

    def __init__(self, runner, chance):
        self.runner, self.chance = runner, chance
        self.given = []

    def give(self, tasks):
        self.given += decode_tasks(encode_tasks(tasks)) if tasks else []

    @property
    def is_hungry(self):
        return self.chance.random() < 0.5

    def take(self):
        self.chance.shuffle(self.given)
        count = self.chance.randint(min(1, len(self.given)), len(self.given))
        self.runner.give(self.given[:count])
        del self.given[:count]
        return self.runner.take()


def in_waves(texts, dialect, schema, chance):
    """The rows that waves give."""
    scripts = [Script(name, text, dialect, ".") for name, text in texts]
    units = [unit for script in scripts for unit in cut_units(script)]
    if dialect == "bigquery":
        units = with_preludes(units)
    given = import_schema(schema, dialect)
    runner = Runner(HarvestSetting({dialect: given}))
    waves = Waves(units, given, dialect)
    facts = Facts()
    settle([waves], Dawdler(runner, chance))
    add_schema(facts, waves.schema_now.resolved())
    places = [outcome.place for outcome in waves.outcomes.values()]
    rows = {spec: runner.rows(spec, places) for spec in (STATEMENTS, EDGES, ISSUES)}
    rows[COLUMNS] = facts_to_arrow(facts, COLUMNS)
    return rows


def in_order(texts, dialect, schema):
    facts = collect([Source(text, name) for name, text in texts], Request(dialect=dialect, schema=schema))
    return {spec: facts_to_arrow(facts, spec) for spec in (STATEMENTS, EDGES, ISSUES, COLUMNS)}


def plain(table, spec):
    rows = [{name: value for name, value in row.items() if name != "fingerprint"} for row in table.to_pylist()]
    return sorted(rows, key=lambda row: tuple(str(row[name]) for name in spec.key))


@pytest.mark.property
@pytest.mark.parametrize(("seed", "dialect", "given"), ESTATES)
def test_waves_equal_sequence(seed, dialect, given):
    texts = estates.scripts(seed, dialect=dialect)
    schema = estates.SCHEMA if given else None
    rows = in_waves(texts, dialect, schema, random.Random(seed))
    for spec, expected in in_order(texts, dialect, schema).items():
        assert plain(rows[spec], spec) == plain(expected, spec), "\n".join(text for _, text in texts)


def test_a_wildcard_depends_on_the_tables_that_it_matches_alone():
    texts = [
        ("a.sql", "CREATE TABLE shop.events_1 AS SELECT 1 AS id"),
        ("b.sql", "CREATE TABLE shop.other AS SELECT 2 AS n"),
        ("c.sql", "CREATE TABLE shop.every AS SELECT * FROM `shop.events_*`"),
        ("d.sql", "CREATE TABLE shop.events_2 AS SELECT 3 AS id, 4 AS kind"),
        ("e.sql", "CREATE TABLE shop.last AS SELECT * FROM `shop.events_*`"),
    ]
    rows = in_waves(texts, "bigquery", None, random.Random(7))
    for spec, expected in in_order(texts, "bigquery", None).items():
        assert plain(rows[spec], spec) == plain(expected, spec)
    waves = Waves([whole_unit(Script(*each, "bigquery", ".")) for each in texts], import_schema(None), "bigquery")
    settle([waves], Runner(HarvestSetting({"bigquery": waves.schema})))
    seen = [key for layer in waves.outcomes[4].trace().sight.layers[1:] for key, _ in layer]
    assert ("*", "shop", "events_") in seen
    assert ("*",) not in seen
    assert ("shop", "other") not in seen


def test_what_a_long_chain_waits_for_comes_first():
    texts = [
        "CREATE TABLE d.alone AS SELECT a FROM d.s",
        "CREATE TABLE d.one AS SELECT a FROM d.s",
        "CREATE TABLE d.two AS SELECT a FROM d.one",
        "CREATE TABLE d.three AS SELECT a FROM `d`.two",
    ]
    units = [unit for at, text in enumerate(texts) for unit in cut_units(Script(f"{at}.sql", text, "bigquery", "."))]
    alone, one, two, three = longest_chains(units)
    assert one > two > three
    assert one == two + len(texts[1]) * 15
    assert one > alone
    waves = Waves(units, import_schema(None, "bigquery"), "bigquery")
    runner = Runner(HarvestSetting({"bigquery": waves.schema}))
    runner.give(waves.ready())
    assert runner._waiting.pop().unit is units[1]
