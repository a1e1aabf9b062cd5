"""Servers to pull from: PostgreSQL and MariaDB, each started in a temporary folder, reached through a socket."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.proof.postgres import missing_postgres

SHOP_IN_POSTGRES = """
CREATE EXTENSION pg_stat_statements;
CREATE SCHEMA mart;
CREATE SCHEMA "Odd ""Schema";
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, email text);
COMMENT ON COLUMN customers.email IS 'personal';
CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customers (id), amount numeric(10, 2), placed date);
CREATE TABLE audit (order_id int, amount numeric);
CREATE TABLE mart.daily (day date, revenue numeric);
CREATE TABLE "Odd ""Schema"."Größe des Hauses" ("Quoted ""Column" int, "UPPER" text, customer int);
CREATE VIEW totals AS SELECT c.id AS customer, c.name, sum(o.amount) AS total
    FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.id, c.name;
CREATE VIEW mart.best AS SELECT name, total FROM totals WHERE total > 10;
CREATE MATERIALIZED VIEW mart.odd AS SELECT h."UPPER" AS "Up", h."Quoted ""Column", t.total
    FROM "Odd ""Schema"."Größe des Hauses" h JOIN totals t USING (customer);
CREATE FUNCTION spent(who int) RETURNS numeric LANGUAGE sql AS 'SELECT sum(amount) FROM orders WHERE customer = who';
CREATE FUNCTION spent(who text) RETURNS numeric LANGUAGE sql
    AS 'SELECT sum(amount) FROM orders o JOIN customers c ON c.id = o.customer WHERE c.name = who';
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO audit (order_id, amount) VALUES (NEW.id, NEW.amount); RETURN NEW; END $$;
CREATE TRIGGER noted AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION note();
CREATE PROCEDURE mart.fill() LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO mart.daily SELECT placed, sum(amount) FROM orders GROUP BY 1; END $$;
CREATE ROLE reader LOGIN PASSWORD 'hunter2-xyzzy';
"""
QUERIES_IN_POSTGRES = """
INSERT INTO orders VALUES (1, NULL, 20, date '2026-11-01');
CALL mart.fill();
SELECT name FROM mart.best WHERE total > 5;
SELECT name FROM mart.best WHERE total > 7;
CREATE TABLE mart.copied AS SELECT id, amount * 2 AS twice FROM orders WHERE placed > now() - interval '1 day';
UPDATE orders SET amount = amount + 1 WHERE placed < timestamp with time zone '2099-01-01 00:00:00+00';
"""
SHOP_IN_MARIADB = """
CREATE DATABASE shop; CREATE DATABASE `Odd ``Db`;
USE shop;
CREATE TABLE customers (id int PRIMARY KEY, name varchar(50) NOT NULL, email varchar(80) COMMENT 'personal');
CREATE TABLE orders (id int PRIMARY KEY, customer int, amount decimal(10, 2), placed datetime,
    FOREIGN KEY (customer) REFERENCES customers (id));
CREATE TABLE audit (order_id int, amount decimal(10, 2));
CREATE TABLE daily (day date, revenue decimal(10, 2));
CREATE TABLE `Odd ``Db`.`Größe des Hauses` (`Quoted ``Column` int, `UPPER` text, customer int);
CREATE VIEW totals AS SELECT c.id AS customer, c.name, sum(o.amount) AS total
    FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.id, c.name;
CREATE VIEW best AS SELECT name, total FROM totals WHERE total > 10;
CREATE VIEW `Odd ``Db`.`Up` AS SELECT `UPPER` AS `Up`, t.total
    FROM `Odd ``Db`.`Größe des Hauses` h JOIN shop.totals t USING (customer);
DELIMITER //
CREATE FUNCTION spent(who int) RETURNS decimal(10, 2) READS SQL DATA
    BEGIN DECLARE s decimal(10, 2); SELECT sum(amount) INTO s FROM orders WHERE customer = who; RETURN s; END//
CREATE PROCEDURE fill() BEGIN INSERT INTO daily SELECT date(placed), sum(amount) FROM orders GROUP BY 1; END//
CREATE TRIGGER noted AFTER INSERT ON orders FOR EACH ROW
    INSERT INTO audit (order_id, amount) VALUES (NEW.id, NEW.amount)//
DELIMITER ;
CREATE USER reader IDENTIFIED BY 'hunter2-xyzzy';
"""
QUERIES_IN_MARIADB = """
USE shop;
INSERT INTO orders VALUES (1, NULL, 20, now());
CALL fill();
SELECT name FROM best WHERE total > 5;
SELECT name FROM best WHERE total > 7;
CREATE TABLE copied AS SELECT id, amount * 2 AS twice FROM orders WHERE placed > now() - interval 1 day;
UPDATE orders SET amount = amount + 1 WHERE id IN (1, 2, 3);
"""


def missing_mariadb() -> str | None:
    """Why there is no MariaDB here; None when there is."""
    if any(shutil.which(name, path=_PATH) is None for name in ("mariadbd", "mariadb-install-db", "mariadb")):
        return (
            "MariaDB is not installed (mariadbd, mariadb-install-db, mariadb; Debian: apt-get install mariadb-server)"
        )
    return None


_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])


def _unprivileged(user: str) -> list[str]:
    return ["runuser", "-u", user, "--"] if os.geteuid() == 0 else []  # servers refuse root


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


class Postgres:
    """A running PostgreSQL with the queries that were run counted."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port

    def url(self, database: str = "postgres", user: str = "postgres", host: str | None = None) -> str:
        place = f"{host}:{self.port}" if host else ""
        return f"postgresql://{user}@{place}/{database}" + ("" if host else f"?host={self.folder}&port={self.port}")

    def run(self, sql: str, database: str = "postgres") -> None:
        words = [
            "psql",
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            self.folder,
            "-p",
            str(self.port),
            "-U",
            "postgres",
        ]
        subprocess.run([*words, "-d", database], input=sql, text=True, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL that is stopped in the end. Passwords count over TCP only."""
    assert missing_postgres() is None
    found = shutil.which("initdb") or str(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))[-1])
    binaries, folder, port = Path(found).parent, Path(tempfile.mkdtemp(prefix="pull-pg-")), free_port()
    as_user = _unprivileged("postgres")
    if as_user:
        shutil.chown(folder, "postgres")
    data = folder / "data"
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    start = [*as_user, binaries / "initdb", "-D", data, "--auth-local=trust", "--auth-host=scram-sha-256", "-N"]
    subprocess.run([*start, "-U", "postgres"], **quiet)
    options = f"-F -p {port} -k {folder} -c listen_addresses=127.0.0.1"
    options += " -c shared_preload_libraries=pg_stat_statements"
    quiet["cwd"] = folder
    control = [*as_user, binaries / "pg_ctl", "-D", data, "-w"]
    subprocess.run([*control, "-o", options, "-l", folder / "log", "start"], **quiet)
    try:
        yield Postgres(folder, port)
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=False, stdout=subprocess.DEVNULL, cwd=folder)
        shutil.rmtree(folder, ignore_errors=True)


class MariaDB:
    """A running MariaDB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, database: str = "", user: str = "root") -> str:
        return f"mysql://{user}@/{database}?unix_socket={self.folder}/socket"

    def run(self, sql: str) -> None:
        words = [
            "mariadb",
            "--no-defaults",
            "-S",
            f"{self.folder}/socket",
            "-u",
            "root",
            "--default-character-set=utf8mb4",
        ]
        subprocess.run(words, input=sql, text=True, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def mariadb() -> Iterator[MariaDB]:
    """A MariaDB that is stopped in the end, with digests of its queries."""
    folder = Path(tempfile.mkdtemp(prefix="pull-my-"))
    as_user = _unprivileged("mysql")
    if as_user:
        shutil.chown(folder, "mysql")
    install = ["mariadb-install-db", "--no-defaults", f"--datadir={folder}/data", "--skip-test-db"]
    install.append("--auth-root-authentication-method=normal")
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*install, *(["--user=mysql"] if as_user else [])], **quiet)
    server = [shutil.which("mariadbd", path=_PATH) or "mariadbd", "--no-defaults", f"--datadir={folder}/data"]
    server += [
        f"--socket={folder}/socket",
        f"--pid-file={folder}/pid",
        "--skip-networking",
        "--performance-schema=ON",
    ]
    server += [f"--log-error={folder}/log", "--innodb-flush-log-at-trx-commit=0"]
    process = subprocess.Popen([*as_user, *server], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(folder, process)
        yield MariaDB(folder)
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(folder: Path, process: "subprocess.Popen[bytes]") -> None:
    """Wait until the server answers."""
    for _ in range(600):
        with socket.socket(socket.AF_UNIX) as client:
            if client.connect_ex(f"{folder}/socket") == 0:
                return
        assert process.poll() is None, (folder / "log").read_text()
        time.sleep(0.1)
    raise AssertionError("MariaDB did not start within a minute")
