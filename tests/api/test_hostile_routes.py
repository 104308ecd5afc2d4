"""The product's own routes under bad, large and deep input: no 5xx, and never half a write (contract 1 and 2)."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.test import APIClient

from chief_project.shared.models import AuditEntry, UsedId, User
from tests.api.test_every_operation import STEPS
from workflows.models import Plan, Workflow

pytestmark = pytest.mark.django_db(transaction=True)

MANY = 10**30


class Api:
    """A person's client that sends anything, and fails on any 5xx."""

    def __init__(self, client: APIClient) -> None:
        self.client = client
        client.raise_request_exception = False

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        answer: HttpResponse = self.client.generic(
            method, f"/v1{path}", raw, content_type="application/json", headers=headers
        )
        assert answer.status_code < 500, answer.content[:1000]
        return answer

    def ok(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer = self(method, path, body, **headers)
        assert answer.status_code < 300, answer.content[:1000]
        return json.loads(answer.content)

    def refused(self, method: str, path: str, body: Any, status: int = 422) -> dict[str, Any]:
        answer = self(method, path, body)
        assert answer.status_code == status, answer.content[:1000]
        error: dict[str, Any] = json.loads(answer.content)["error"]
        return error


@pytest.fixture
def api(api_as: Callable[..., APIClient], owner: User) -> Api:
    return Api(api_as(owner))


def submission(steps: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"workflow_id": "w", "title": "T", "source": "human", "steps": steps, **more}


@pytest.fixture
def nothing_written(api: Api) -> Iterator[None]:
    """Whatever the test does leaves the plans, the ids and the audit as they were."""

    def state() -> list[Any]:
        return [
            Workflow.objects.count(),
            Plan.objects.count(),
            UsedId.objects.count(),
            AuditEntry.objects.count(),
        ]

    before = state()
    yield
    assert state() == before


def nest(levels: int) -> list[dict[str, Any]]:
    """A chain of ``levels`` loops, each the body of the one before, with a task in the innermost."""
    steps: list[dict[str, Any]] = [
        {
            "id": f"l{level}",
            "type": "loop",
            "goal": "Again.",
            "body": [f"l{level + 1}" if level + 1 < levels else "task"],
        }
        for level in range(levels)
    ]
    return [*steps, {"id": "task", "type": "task", "goal": "Do it."}]


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize(
    "raw",
    [
        b"{", b'{"title":"a","title":"b"}', b'{"title":"\xff"}', b"[" * 100_000, b"[]", b'{"title":' + b"9" * 5000 + b"}",
        rb'{"workflow_id":"w","title":"\u0000","source":"human","steps":[]}',
        rb'{"workflow_id":"w","title":"\ud800","source":"human","steps":[]}',
        b'{"workflow_id":"w","title":"T","source":"human","steps":[' + b'{"inputs":' * 70 + b"1" + b"}" * 70 + b"]}",
        b'{"workflow_id":"w","title":"T","source":"human","steps":[{"id":"a","type":"task","goal":"g","inputs":{"x":NaN}}]}',
    ],
    ids=range(10),
)  # fmt: skip
def test_a_malformed_submission_is_refused_and_leaves_nothing(api: Api, raw: bytes) -> None:
    assert api.refused("POST", "/workflows", raw)["code"] == "validation_failed"


@pytest.mark.usefixtures("nothing_written")
def test_a_body_of_ten_megabytes_is_too_large(api: Api) -> None:
    assert api.refused("POST", "/workflows", b"a" * 10_000_000, 413)["code"] == "too_large"


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize("levels", [65, 1000])
def test_bodies_nested_more_than_64_deep_are_refused_saying_so(api: Api, levels: int) -> None:
    error = api.refused("POST", "/workflows", submission(nest(levels)))
    assert "64" in error["message"]
    assert error["details"]["pointer"].startswith("/steps")


def test_a_plan_of_5000_steps_in_one_chain_declared_backwards_is_taken(api: Api) -> None:
    steps = [
        {"id": f"s{number}", "type": "task", "goal": "G.", "depends_on": [f"s{number - 1}"] if number else []}
        for number in range(4999, -1, -1)
    ]
    assert len(api.ok("POST", "/workflows", submission(steps))["steps"]) == 5000


def test_a_goal_of_a_megabyte_comes_back_whole(api: Api) -> None:
    goal = "é" * 500_000
    api.ok("POST", "/workflows", submission([{"id": "a", "type": "task", "goal": goal}]))
    assert api.ok("GET", "/workflows/w")["steps"][0]["goal"] == goal


def test_integers_beyond_64_bits_come_back_exactly(api: Api) -> None:
    inputs = {"n": MANY, "m": -MANY, "deep": [{"k": 2**64}]}
    api.ok("POST", "/workflows", submission([{"id": "a", "type": "task", "goal": "G.", "inputs": inputs}]))
    assert api.ok("GET", "/workflows/w")["steps"][0]["inputs"] == inputs
    api.ok("POST", "/workflows/w/approve")
    api.ok("POST", "/workflows/w/runs", {"run_id": "r", "metadata": {"n": MANY}})
    api.ok("POST", "/runs/r/steps/a/updates", {"summary": "S.", "metadata": {"n": -MANY}})
    run = api.ok("GET", "/runs/r")
    assert run["metadata"] == {"n": MANY}
    assert run["step_states"]["a"]["metadata"] == {"n": -MANY}
    assert api.ok("GET", "/runs/r/updates")[0]["payload"]["metadata"] == {"n": -MANY}


def test_a_run_tree_nested_64_deep_is_written_and_read(api: Api) -> None:
    api.ok("POST", "/workflows", submission(nest(64)))
    api.ok("POST", "/workflows/w/approve")
    api.ok("POST", "/workflows/w/runs", {"run_id": "r"})
    path = "l0"
    for level in range(64):
        instance = api.ok("POST", f"/runs/r/state/{path}/instances", {}, prefer="return=minimal")
        assert instance["state"]["index"] == 0
        path += "/inst_00/" + (f"l{level + 1}" if level < 63 else "task")
    deep: Any = "end"
    for _ in range(60):
        deep = [deep]
    api.ok(
        "POST",
        f"/runs/r/state/{path}/updates",
        {"summary": "S.", "status": "completed", "metadata": {"d": deep}},
    )
    here = api.ok("GET", "/runs/r")
    for token in path.split("/"):
        if token.startswith("inst_"):
            here = next(instance for instance in here["instances"] if instance["instance_id"] == token)
        else:
            here = here["step_states"][token]
    assert here["status"] == "completed"
    assert here["metadata"] == {"d": deep}
    assert api.ok("GET", f"/runs/r/next?path={path.rsplit('/', 1)[0]}")
    replay = {"op": "replay_step", "target_step_id": "task", "instance_path": path.rsplit("/", 1)[0]}
    amendment = api.ok(
        "POST",
        "/runs/r/amendments",
        {"proposed_by": "p", "kind": "history_edit", "reason": "Again.", "operations": [replay]},
    )
    assert api.ok("GET", f"/amendments/{amendment['amendment_id']}/diff")
    api.ok("POST", f"/amendments/{amendment['amendment_id']}/approve")
    assert api.ok("GET", "/runs/r")["status"] == "running"
    assert api.ok("POST", "/runs/r/cancel")["status"] == "cancelled"
    assert api.ok("DELETE", "/workflows/w")


@pytest.mark.parametrize(
    "path",
    ["/workflows/a%2Fb", "/runs/..%2Fx", "/workflows/%00", "/runs/a b", "/workflows/é", "/runs/" + "a" * 201],
)
def test_an_id_that_cannot_be_one_is_not_found(api: Api, path: str) -> None:
    api.refused("GET", path, None, 404)


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize("name", ["a/b", "..", ".", "", " ", "é", "a\u0000", "a" * 201, 1, ["a"]])
def test_an_id_that_cannot_be_one_is_not_accepted(api: Api, name: Any) -> None:
    error = api.refused("POST", "/workflows", submission(STEPS, workflow_id=name))
    assert error["details"]["pointer"] == "/workflow_id"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/workflows/w/versions/{MANY}", None),
        ("GET", f"/workflows/w/revisions/{MANY}", None),
        ("GET", f"/workflows/w/revisions/{2**63}", None),
        ("GET", "/workflows/w/revisions/" + "9" * 5000, None),
        ("GET", f"/workflows/w/diff?from=r{MANY}&to=v{MANY}", None),
        ("GET", f"/runs/r/definition?applied={MANY}", None),
        ("GET", f"/runs/r/next?limit={MANY}", None),
        ("POST", "/workflows/w/seen", {"revision": MANY}),
        ("POST", "/runs/r/steps/chapters/instances", {"index": MANY}),
        ("POST", "/runs/r/steps/chapters/instances", {"index": 2**31 - 1}),
        ("POST", "/runs/r/steps/chapters/instances", {}),
        ("POST", "/runs/r/steps/read/updates", {"summary": "s" * 1_000_000}),
        ("POST", "/runs/r/steps/read/stale", {"reason": "s" * 1_000_000}),
        ("GET", "/workflows?q=" + "a" * 20_000, None),
        ("GET", "/workflows?q=" + "a%20" * 3_000, None),
        ("GET", "/workflows?q=%22%27%28%29%3A*%20AND%20NEAR%20OR%20NOT%20%26%7C%21%5C%25_%3C-%3E", None),
        ("GET", "/runs?q=%EF%BF%BF%F3%A0%80%81", None),
        ("GET", "/audit?since=9999-12-31T23:59:59.999Z", None),
        ("GET", "/audit?since=0001-01-01T00:00:00Z&until=0001-01-01T00:00:00Z", None),
        ("FOO", "/runs/r", None),
        ("DELETE", "/runs/r", None),
    ],
)  # fmt: skip
def test_extremes_are_answered(api: Api, method: str, path: str, body: Any) -> None:
    api.ok("POST", "/workflows", submission(STEPS))
    api.ok("POST", "/workflows/w/approve")
    api.ok("POST", "/workflows/w/runs", {"run_id": "r"})
    api(method, path, body)


def test_after_the_highest_index_the_next_one_is_refused_or_free(api: Api) -> None:
    api.ok("POST", "/workflows", submission(STEPS))
    api.ok("POST", "/workflows/w/approve")
    api.ok("POST", "/workflows/w/runs", {"run_id": "r"})
    api.ok("POST", "/runs/r/steps/chapters/instances", {"index": 2**31 - 1})
    api("POST", "/runs/r/steps/chapters/instances", {})
    assert api.ok("GET", "/runs/r")
