"""What an operator sets is checked at start, and a bad value is one line that names it (contract 11)."""

import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from chief_project.environment import BadEnvironment, read_environment

ROOT = Path(__file__).resolve().parents[2]
KEY = "a-long-enough-key-of-many-different-characters-0123456789"
POSTGRESQL = "postgres://ann:s3cret@db.example.org:5433/chief?sslmode=require"


@pytest.fixture
def read(tmp_path):
    def read(**environ):
        return read_environment(environ, base_dir=tmp_path)

    return read


def test_nothing_needs_to_be_set(read, tmp_path):
    environment = read()
    assert environment.url == "http://127.0.0.1:8000"
    assert environment.url_is_default
    assert not environment.https
    assert environment.data_dir == tmp_path / "var"
    assert environment.database["NAME"] == str(tmp_path / "var" / "chief.sqlite3")
    assert not environment.postgresql
    assert (environment.debug, environment.metrics, environment.access_log) == (False, False, False)
    assert environment.max_body_bytes == 5 * 1024 * 1024
    assert environment.max_json_depth == 64


def test_a_variable_set_to_nothing_counts_as_not_set(read):
    assert read(CHIEF_URL="", CHIEF_THREADS=" ", DATABASE_URL="").url_is_default


@pytest.mark.parametrize(
    ("given", "url", "host"),
    [
        ("https://Chief.Example.org/", "https://chief.example.org", "chief.example.org"),
        ("https://chief.example.org:443", "https://chief.example.org", "chief.example.org"),
        ("http://10.0.0.7:8080", "http://10.0.0.7:8080", "10.0.0.7"),
        ("http://[::1]:9000", "http://[::1]:9000", "[::1]"),
    ],
)
def test_the_url_settles_hosts_and_links(read, given, url, host):
    environment = read(CHIEF_URL=given)
    assert environment.url == url
    assert environment.allowed_hosts[0] == host
    assert {"localhost", "127.0.0.1", "[::1]"} <= set(environment.allowed_hosts)
    assert environment.https == given.startswith("https")


def test_sqlite_waits_for_its_turn(read):
    options = read().database["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["timeout"] == 20
    assert "journal_mode=WAL" in options["init_command"]


def test_a_database_url_may_name_a_sqlite_file(read, tmp_path):
    assert read(DATABASE_URL=f"sqlite:///{tmp_path}/x.sqlite3").database["NAME"] == f"{tmp_path}/x.sqlite3"
    assert read(DATABASE_URL="sqlite:///x.sqlite3").database["NAME"] == f"{tmp_path}/x.sqlite3"


def test_postgresql_keeps_connections_and_what_the_url_says(read):
    environment = read(DATABASE_URL=POSTGRESQL, CHIEF_SECRET_KEY=KEY)
    database = environment.database
    assert environment.postgresql
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example.org", 5433, "chief")
    assert database["CONN_MAX_AGE"] == 60
    assert database["OPTIONS"]["sslmode"] == "require"
    assert database["OPTIONS"]["server_side_binding"] is True
    assert database["OPTIONS"]["prepare_threshold"] == 3


@pytest.mark.parametrize("name", ["CHIEF_SECRET_KEY", "DATABASE_URL"])
def test_a_secret_may_stand_in_a_file(read, tmp_path, name):
    values = {"CHIEF_SECRET_KEY": KEY, "DATABASE_URL": POSTGRESQL}
    (tmp_path / "secret").write_text(values.pop(name) + "\n")
    environment = read(**values, **{f"{name}_FILE": str(tmp_path / "secret")})
    assert environment.secret_key == KEY
    assert environment.database["PASSWORD"] == "s3cret"


def test_a_missing_key_is_made_once_for_the_owner_alone(read, tmp_path):
    first = read().secret_key
    assert len(first) >= 50
    assert read().secret_key == first
    assert stat.S_IMODE((tmp_path / "var" / "secret_key").stat().st_mode) == 0o600


@pytest.mark.parametrize("given", [{}, {"DATABASE_URL": "sqlite:///open/chief.sqlite3"}])
def test_the_database_is_for_its_owner_alone_wherever_it_lies(read, tmp_path, given):
    for folder in ("var", "open"):
        (tmp_path / folder).mkdir(mode=0o755)
    path = Path(read(**given).database["NAME"])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE secrets (x)")
        connection.commit()
        for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read(**given).database["NAME"] == str(path)  # what is there stays as it is


def test_many_first_starts_at_once_agree_on_one_key(read, tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = {future.result().secret_key for future in [pool.submit(read) for _ in range(40)]}
    assert len(keys) == 1
    assert sorted(path.name for path in (tmp_path / "var").iterdir()) == ["chief.sqlite3", "secret_key"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CHIEF_URL", "chief.example.org"),
        ("CHIEF_URL", "ftp://chief.example.org"),
        ("CHIEF_URL", "https://"),
        ("CHIEF_URL", "https://*"),
        ("CHIEF_URL", "https://.example.org"),
        ("CHIEF_URL", "https://chief.example.org:99999"),
        ("CHIEF_URL", "https://chief.example.org/chief"),
        ("CHIEF_URL", "https://ann:hidden@chief.example.org"),
        ("CHIEF_URL", "https://[::1"),
        ("CHIEF_DEBUG", "maybe"),
        ("CHIEF_METRICS", "2"),
        ("CHIEF_ACCESS_LOG", "all"),
        ("CHIEF_MCP_TOOLS", "some"),
        ("CHIEF_THREADS", "0"),
        ("CHIEF_THREADS", "ten"),
        ("CHIEF_MAX_BODY_BYTES", "5MB"),
        ("CHIEF_MAX_BODY_BYTES", "-1"),
        ("CHIEF_MAX_JSON_DEPTH", "100000"),
        ("CHIEF_MAX_JSON_DEPTH", "٦٤"),
        ("CHIEF_DATA_DIR", "/dev/null/var"),
        ("CHIEF_SECRET_KEY", "hidden"),
        ("CHIEF_SECRET_KEY", "a" * 60),
        ("CHIEF_SECRET_KEY_FILE", "not-there"),
        ("DATABASE_URL", "mysql://ann:hidden@localhost/chief"),
        ("DATABASE_URL", "oracle+x://ann:hidden@localhost/chief"),
        ("DATABASE_URL", "postgres://ann:hidden@localhost:port/chief"),
        ("DATABASE_URL", "postgres://ann:hidden@localhost"),
        ("DATABASE_URL", "just words, hidden"),
        ("DATABASE_URL", "sqlite://:memory:"),
        ("DATABASE_URL", "sqlite:////not/there/x.sqlite3"),
        ("DATABASE_URL_FILE", "not-there"),
    ],
)
def test_a_bad_value_is_one_line_that_names_it_and_tells_no_secret(read, name, value):
    key = {} if name.startswith("CHIEF_SECRET_KEY") else {"CHIEF_SECRET_KEY": KEY}
    with pytest.raises(BadEnvironment) as caught:
        read(**key, **{name: value})
    line = str(caught.value)
    assert line.startswith(f"{name}: ")
    assert "\n" not in line
    assert "hidden" not in line


def test_a_value_and_its_file_are_one_too_many(read, tmp_path):
    (tmp_path / "key").write_text(KEY)
    with pytest.raises(BadEnvironment, match="CHIEF_SECRET_KEY_FILE: CHIEF_SECRET_KEY is set too"):
        read(CHIEF_SECRET_KEY=KEY, CHIEF_SECRET_KEY_FILE=str(tmp_path / "key"))


def test_postgresql_needs_a_key_that_is_given(read):
    with pytest.raises(BadEnvironment, match="CHIEF_SECRET_KEY: required with PostgreSQL"):
        read(DATABASE_URL=POSTGRESQL)


def test_a_kept_key_that_is_empty_is_refused(read, tmp_path):
    read()
    (tmp_path / "var" / "secret_key").write_text("")
    with pytest.raises(BadEnvironment, match=r"CHIEF_SECRET_KEY: not set, and .* holds no usable key"):
        read()


@pytest.mark.parametrize(
    "arguments",
    [["manage.py", "check"], ["-c", "import chief_project.asgi"], ["-c", "import chief_project.wsgi"]],
    ids=["manage.py", "asgi", "wsgi"],
)
def test_a_bad_value_stops_the_start_with_one_line(arguments, tmp_path):
    environ = {
        name: value for name, value in os.environ.items() if not name.startswith(("CHIEF_", "DJANGO_"))
    }
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environ | {"CHIEF_DATA_DIR": str(tmp_path), "CHIEF_THREADS": "many"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == "chief: CHIEF_THREADS: 'many' is not a whole number from 1 to 200\n"
