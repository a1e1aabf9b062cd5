"""`python -m tests.soak [--seconds 600] [--seed 1] [--state FOLDER]`: everything at once, and everything killed.

On one warehouse, in processes of their own: embedded writers, a Spark writer and a stream, readers, compaction,
expiry, schema changes, harvests and the server with its callers; one table on a disk that is full now and then, one
on S3 behind a proxy that fails. All of them are killed at random, and wake up with clocks that are hours off. In the
end an independent checker (`checker.py`) compares what is there with what was promised.

Stopped, it goes on where it was when it is called with the same `--state`. Exit 0 when nothing broke, else 1 with
what did.
"""

import argparse
import json
import random
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tests.soak.checker import check
from tests.soak.conductor import Conductor, start
from tests.soak.stage import HOGGED, Stage, read_journal
from tests.soak.witness import Witness

_SMALL = "size=3m"


def set_stage(folder: Path, seed: int) -> tuple[Stage, subprocess.Popen[bytes]]:
    """The stage, and the S3 server, which is nobody's victim."""
    for name in ("journals", "logs", "small", "lake"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("stop", "calm"):
        (folder / name).unlink(missing_ok=True)
    epoch = Stage.load(folder).epoch + 1 if (folder / "stage.json").exists() else 0
    cloud = start(
        "-m", "tests.soak.cloud", str(folder), str(seed), stdout=subprocess.PIPE, log=folder / "logs" / "cloud.log"
    )
    assert cloud.stdout is not None
    addresses = json.loads(cloud.stdout.readline())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    mounted = (folder / "small").is_mount() or _mount(folder / "small")
    (folder / "small" / HOGGED).unlink(missing_ok=True)
    stage = Stage(str(folder), seed, port, **addresses, epoch=epoch, small_is_mounted=mounted)
    stage.save()
    return stage, cloud


def _mount(place: Path) -> bool:
    run = subprocess.run(["mount", "-t", "tmpfs", "-o", _SMALL, "tmpfs", str(place)], capture_output=True)
    return run.returncode == 0


def tell(conductor: Conductor) -> None:
    """One line of how it goes."""
    lines: Counter[str] = Counter()
    for path in (conductor.stage.root / "journals").glob("*.ndjson"):
        lines.update(line["kind"] for line in read_journal(path))
    told = (
        "done",
        "failed",
        "refused",
        "left",
        "read",
        "cleaned",
        "compacted",
        "streamed",
        "snapshot",
        "broken",
        "crash",
    )
    counts = " ".join(f"{kind} {lines[kind]}" for kind in told if lines[kind])
    print(f"{conductor.elapsed:5.0f} s  kills {conductor.kills.total()}  {counts}", flush=True)


def settle(conductor: Conductor) -> list[str]:
    """Bring everything to rest; what does not come to rest is a finding."""
    stage, failures = conductor.stage, list(conductor.failures)
    spark = conductor.start_spark("once")
    if spark.wait(900) != 0:
        failures.append(
            f"the last run of the stream failed: {(stage.root / 'logs' / 'spark.log').read_text()[-1500:]}"
        )
    log = stage.root / "logs" / "settle.log"
    if start("-m", "tests.soak.settle", stage.folder, log=log).wait(900) != 0:
        failures.append(f"coming to rest failed: {log.read_text()[-1500:]}")
    return failures


def cast_of() -> dict[str, tuple[int, bool]]:
    from tests.soak.casting import CAST

    return {name: (part.peril, part.clocks) for name, part in CAST.items()}


def soak(folder: Path, seconds: float, seed: int) -> int:
    begun = time.monotonic()
    stage, cloud = set_stage(folder, seed)
    try:
        made = start(
            "-c",
            "import sys; from tests.soak import actors, stage; actors.make_tables(stage.Stage.load(sys.argv[1]))",
            stage.folder,
        )
        if made.wait(60) != 0:
            return 1
        elapsed = float((folder / "elapsed").read_text()) if (folder / "elapsed").exists() else 0.0
        witness = Witness(stage)
        witness.start()
        cast = cast_of()
        if not stage.small_is_mounted:
            cast.pop("hog")
        conductor = Conductor(stage, cast, random.Random(f"{seed}-{stage.epoch}"), seconds, tell)
        conductor.run(elapsed)
        failures = settle(conductor)
        witness.end()
        broken, counts = failures, Counter[str]()
        if (folder / "ours.json").exists():
            verdict = check(stage)
            broken, counts = failures + verdict.broken, verdict.counts
        faults = json.loads((folder / "faults.json").read_text())
    finally:
        cloud.kill()
        cloud.wait()
    return report(replace(stage), broken, counts, conductor, faults, time.monotonic() - begun)


def report(
    stage: Stage, broken: list[str], counts: Counter[str], conductor: Conductor, faults: dict[str, int], took: float
) -> int:
    print(f"\nseed {stage.seed}: {conductor.kills.total()} kills, {sum(faults.values())} faults of S3, {took:.0f} s")
    print("  " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    for each in broken[:20]:
        print(f"BROKEN  {each}")
    found = {
        "soak": "ok" if not broken else "broken",
        "seed": stage.seed,
        "seconds": conductor.seconds,
        "kills": dict(conductor.kills),
        "faults": faults,
        "small_disk": stage.small_is_mounted,
        "counts": dict(counts),
        "broken": broken,
    }
    print(json.dumps(found))
    return 1 if broken else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--state", type=Path, help="the folder of the soak; default: /tmp/headwater-soak-SEED")
    parser.add_argument("--keep", action="store_true", help="keep the folder of a soak that broke nothing")
    given = parser.parse_args()
    folder = (given.state or Path(f"/tmp/headwater-soak-{given.seed}")).absolute()
    print(f"soak in {folder}, seed {given.seed}, {given.seconds:.0f} s", flush=True)
    status = soak(folder, given.seconds, given.seed)
    if status == 0 and not given.keep:
        subprocess.run(["umount", str(folder / "small")], capture_output=True)  # a disk or none
        shutil.rmtree(folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
