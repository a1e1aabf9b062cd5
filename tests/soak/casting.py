"""Who plays in a soak, how often they are killed, and whose clock may be wrong."""

from dataclasses import dataclass

from tests.soak import actors, readers
from tests.soak.stage import Stage


@dataclass(frozen=True, slots=True)
class Part:
    """One actor. `peril` is how often it is killed, compared with others."""

    play: actors.Play
    peril: int = 2
    clocks: bool = True
    epochs: bool = False  # its journal begins anew with every epoch, as S3 does


CAST = {
    "keyed0": Part(actors.upserts("lake", "db.keyed", 0, extras=True), peril=3),
    "keyed1": Part(actors.upserts("lake", "db.keyed", 1, extras=True), peril=3),
    "sparked2": Part(actors.upserts("lake", "db.sparked", 2)),
    "small0": Part(actors.upserts("small", "db.keyed", 0)),
    "cloud0": Part(actors.upserts("s3", "db.keyed", 0), epochs=True),
    "cloud1": Part(actors.upserts("s3", "db.keyed", 1), epochs=True),
    "log0": Part(actors.appends("lake", "db.log")),
    "log1": Part(actors.appends("lake", "db.log")),
    "feed0": Part(actors.appends("lake", "db.feed"), peril=1),
    "rows0": Part(actors.row_writer, peril=3),
    "evolver": Part(actors.evolver),
    "sql0": Part(actors.statements(0)),
    "sql1": Part(actors.statements(1)),
    "hog": Part(actors.hog, peril=0, clocks=False),
    "reader": Part(readers.reader("lake")),
    "small-reader": Part(readers.reader("small"), peril=1),
    "cloud-reader": Part(readers.reader("s3"), epochs=True, peril=1),
    "compactor": Part(readers.compactor("lake"), peril=3),
    "small-compactor": Part(readers.compactor("small"), peril=1),
    "cloud-compactor": Part(readers.compactor("s3"), peril=1),
    "cleaner": Part(readers.cleaner("lake"), peril=3),
    "small-cleaner": Part(readers.cleaner("small"), peril=1),
    "cloud-cleaner": Part(readers.cleaner("s3"), peril=1),
    "harvester": Part(readers.harvester),
    "server": Part(readers.server, clocks=False),
    "client": Part(readers.client, peril=1),
    "graph-reader": Part(readers.graph_reader, peril=1),
}


def journal_name(stage: Stage, actor: str) -> str:
    return f"{actor}-{stage.epoch}" if CAST[actor].epochs else actor
