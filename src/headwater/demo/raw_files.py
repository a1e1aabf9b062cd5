"""The files that the shop's systems write each night: customers, orders and their items, as CSV.
The second night has what nights have: an order that comes late, one that was cancelled since, a new column, and a
file that somebody edited by hand."""

import csv
import random
from pathlib import Path

NIGHTS = ("2026-03-01", "2026-03-02", "2026-03-03")
COUNTRIES = ("DE", "FR", "NL", "ES")
_PER_NIGHT = 400


def write_night(folder: Path, night: str, *, broken: bool = False) -> None:
    """Write the files of one night; `broken` puts a word where the number of pieces should be."""
    place = folder / night
    place.mkdir(parents=True, exist_ok=True)
    chance = random.Random(night)
    first = 1 + NIGHTS.index(night) * _PER_NIGHT
    orders, items = [], []
    for id in range(first, first + _PER_NIGHT):
        orders.append([id, chance.randint(1, 200), f"{night} {chance.randint(0, 23):02}:15:00", "paid"])
        for sku in chance.sample(range(40), chance.randint(1, 4)):
            items.append([id, f"SKU-{sku:02}", chance.randint(1, 5), f"{chance.randint(100, 9000) / 100:.2f}"])
    columns = ["id", "customer_id", "placed_at", "status"]
    if night >= NIGHTS[1]:
        orders.append([first - _PER_NIGHT, 7, f"{NIGHTS[0]} 10:15:00", "cancelled"])  # known, and changed since
        orders.append([90_001, 8, f"{NIGHTS[0]} 23:59:00", "paid"])  # of the night before, and late
        items.append([90_001, "SKU-01", 1, "10.00"])
        columns.append("channel")
        orders = [[*order, chance.choice(["web", "app"])] for order in orders]
    if broken:
        items[17][2] = "two"
    _write(place / "orders.csv", columns, orders)
    _write(place / "items.csv", ["order_id", "sku", "quantity", "unit_price"], items)
    customers = [[id, f"c{id}@example.com", chance.choice(COUNTRIES)] for id in range(1, 201)]
    _write(place / "customers.csv", ["id", "email", "country"], customers)


def write_correction(folder: Path, night: str) -> Path:
    """Write a file with one line of a night's items again, at ten times its price. Returns its folder."""
    with (folder / night / "items.csv").open(newline="") as file:
        columns, *lines = csv.reader(file)
    wrong = lines[41]
    place = folder / f"{night}-corrections"
    place.mkdir(exist_ok=True)
    _write(place / "items.csv", columns, [[*wrong[:3], f"{float(wrong[3]) * 10:.2f}"]])
    return place


def _write(path: Path, columns: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
