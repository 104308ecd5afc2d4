"""A server is killed in the middle of its writes, again and again, and started again on the same data.

A real server in a process of its own, under load from clients that keep what was acknowledged. Nothing that was
acknowledged may be missing, nothing may be half-written, and what was cut off can be sent again under its key.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.plans import parallel, plan, task
from tests.servers import IS_DERIVED, PATIENCE, Server, a_server

pytestmark = pytest.mark.slow

CLIENTS = 4
KILLS = 3
BEFORE_A_KILL = 60  # acknowledged reports


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with a_server(tmp_path) as server:
        yield server


class Worker:
    """One client on one branch: reports, questions of its own, further branches; each under a key, each remembered."""

    def __init__(self, server: Server, token: str, place: int) -> None:
        self.url, self.place = server.url, place
        self.headers = {"Authorization": f"Bearer {token}", "Prefer": "return=minimal"}
        self.reports: list[str] = []  # the marks of acknowledged reports
        self.branches: list[str] = []  # the ids of acknowledged branches
        self.cut_off: tuple[str, dict[str, Any], str] | None = None  # the request whose answer never came
        self.problems: list[str] = []

    def work(self) -> None:
        """Until the connection breaks."""
        with httpx.Client(base_url=self.url, headers=self.headers, timeout=PATIENCE) as http:
            while not self.problems:
                number = len(self.reports) + len(self.branches)
                if number % 5 == 4:
                    request = ("/v1/runs/r1/steps/fan/instances", {"metadata": {"of": self.place}})
                else:
                    mark = uuid.uuid4().hex
                    artifact = {"artifact_id": mark, "type": "mark", "data": number}
                    body = {
                        "summary": mark,
                        "status": "running",
                        "artifacts": [artifact],
                        "metadata": {mark: number},
                    }
                    request = (f"/v1/runs/r1/state/fan/inst_{self.place:02d}/x/updates", body)
                try:
                    self.send(http, *request, key=uuid.uuid4().hex)
                except httpx.TransportError:
                    return

    def send(self, http: httpx.Client, path: str, body: dict[str, Any], *, key: str) -> None:
        self.cut_off = (path, body, key)
        answer = http.post(path, json=body, headers={"Idempotency-Key": key})
        if not answer.is_success:
            self.problems.append(answer.text)
            return
        self.cut_off = None
        if "summary" in body:
            self.reports.append(body["summary"])
        else:
            self.branches.append(answer.json()["state"]["instance_id"])

    def send_again(self) -> None:
        """What was cut off, under the same key: it is carried out now, or was before, and never twice."""
        if self.cut_off is not None:
            path, body, key = self.cut_off
            with httpx.Client(base_url=self.url, headers=self.headers, timeout=PATIENCE) as http:
                self.send(http, path, body, key=key)
        assert self.problems == []


def everything(server: Server, token: str, path: str) -> list[dict[str, Any]]:
    """A list, page by page."""
    found: list[dict[str, Any]] = []
    url: str | None = f"{server.url}{path}?limit=1000"
    while url:
        answer = httpx.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE)
        assert answer.is_success, answer.text
        found += answer.json()
        url = answer.links.get("next", {}).get("url")
    return found


def assert_nothing_is_missing(server: Server, token: str, workers: list[Worker]) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    run = httpx.get(f"{server.url}/v1/runs/r1", headers=headers, timeout=PATIENCE).json()
    updates = everything(server, token, "/v1/runs/r1/updates")
    assert [each["number"] for each in updates] == list(range(1, len(updates) + 1))
    assert run["revision"] == 1 + len(updates)  # a registration and these reports are all that was written
    fan = {each["instance_id"]: each for each in run["step_states"]["fan"]["instances"]}
    logged = Counter(each["payload"].get("summary") for each in updates)
    for worker in workers:
        state = fan[f"inst_{worker.place:02d}"]["step_states"]["x"]
        stored = [made["artifact_id"] for made in state["artifacts"]]
        assert set(worker.reports) <= set(stored)
        assert len(stored) - len(worker.reports) <= (1 if worker.cut_off else 0)
        assert set(stored) == state["metadata"].keys()
        assert all(logged[mark] == 1 for mark in stored)
        assert set(worker.branches) <= fan.keys()
    made = [name for worker in workers for name in worker.branches]
    assert len(made) == len(set(made))
    assert sorted(each["index"] for each in fan.values()) == list(range(len(fan)))
    assert "derived" in server.manage("shell", "-v", "0", "-c", IS_DERIVED)
    server.manage("verify_audit")


def test_what_was_acknowledged_survives_every_kill(server: Server) -> None:
    server.start()
    token = server.manage("create_token", "--kind", "harness", "--relay", "--name", "loader")
    with httpx.Client(
        base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE
    ) as http:
        made = plan(parallel("fan", ["x"]), task("x"), workflow_id="w1")
        for path, body in (
            ("/v1/workflows", made),
            ("/v1/workflows/w1/approve", {}),
            ("/v1/workflows/w1/runs", {"run_id": "r1"}),
            *[("/v1/runs/r1/steps/fan/instances", {"metadata": {}})] * CLIENTS,
        ):
            answer = http.post(path, json=body)
            assert answer.is_success, answer.text
    workers = [Worker(server, token, place) for place in range(CLIENTS)]
    interrupted = 0
    for kill in range(1, KILLS + 1):
        threads = [threading.Thread(target=worker.work, daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        end = time.monotonic() + PATIENCE
        while sum(len(worker.reports) for worker in workers) < kill * BEFORE_A_KILL:
            assert time.monotonic() < end, "too few reports were acknowledged"
            assert not any(worker.problems for worker in workers), [worker.problems for worker in workers]
            time.sleep(0.001)
        server.kill()
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        interrupted += sum(worker.cut_off is not None for worker in workers)
        server.start()
        assert_nothing_is_missing(server, token, workers)
        for worker in workers:
            worker.send_again()
        assert_nothing_is_missing(server, token, workers)
    assert interrupted, "no kill came while a request was under way"
    assert "Traceback" not in server.log.read_text()
