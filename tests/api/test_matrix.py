"""Every route × every principal (contract 9).

The rows come from the URLconf: a new route without a row here fails. Each call is made on the same small world, with
a body that is legal there, and undone; so whoever may do it succeeds, and a refusal is about who asks and nothing
else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connection
from django.urls import URLPattern, get_resolver
from rest_framework.test import APIClient

from chief_project.shared import clock
from chief_project.shared.models import ApiToken, AuditEntry, User
from chief_project.shared.principals import token_cache
from tests.plans import checkpoint, parallel, plan, task
from workflows.mappers import plan_cache

ApiAs = Callable[..., APIClient]
Make = Callable[..., str]

# -- Who -------------------------------------------------------------------------------------------

NOBODY = frozenset({"anonymous", "revoked token", "expired token"})
VIEWERS = frozenset({"viewer token", "viewer session"})
REVIEWERS = frozenset({"reviewer token", "reviewer session"})
ADMINS = frozenset({"admin token", "admin session"})
HARNESS, RELAY = "harness token", "relay token"

# The rows of contract 9's table, by those who have the right.
READ = VIEWERS | REVIEWERS | ADMINS | {HARNESS, RELAY}
OVERSEE = VIEWERS | REVIEWERS | ADMINS
WORK = REVIEWERS | ADMINS | {HARNESS, RELAY}
OWN = REVIEWERS | ADMINS | {HARNESS}  # the harness that proposed it, and people
DECIDE = REVIEWERS | ADMINS | {RELAY}
REVIEW = REVIEWERS | ADMINS
ADMINISTER = ADMINS
PEOPLE = REVIEWERS | ADMINS | {"viewer session"}
EVERYBODY = READ | NOBODY


@dataclass(frozen=True)
class Row:
    """Who may, with which body, and what they get. ``on`` are the ids for the route, where they aren't ``WORLD``'s."""

    may: frozenset[str]
    body: dict[str, Any] | None = None
    status: int = 200
    on: dict[str, str] = field(default_factory=dict)


# -- The world: what `on` fills into routes ----------------------------------------------------------

WORLD = {
    "workflow_id": "wf_draft",
    "number": "1",
    "note_id": "",  # minted
    "template_id": "tpl_1",
    "run_id": "run_1",
    "step_id": "work",
    "instance_id": "b1",
    "body_step_id": "each",
    "path": "work",
    "artifact_id": "art_1",
    "amendment_id": "",  # minted
    "question_id": "",  # minted; stands in bodies
}
BODY_STEP = {"path": "spread/b1/each"}
INSTANCE = {"step_id": "spread", "path": "spread/b1"}
ASKED = {"step_id": "asking", "path": "asking"}
CHECKPOINT = {"step_id": "ok", "path": "ok"}
CONSTRUCT = {"step_id": "spread", "path": "spread"}
APPROVED = {"workflow_id": "wf_approved"}

REPORT = {"summary": "Going on"}
ANSWER = {"question_id": "question_id", "response": {"text": "Yes"}}
TEMPLATE = {
    "template_id": "tpl_new",
    "title": "Do {{ what }}",
    "parameters": [{"name": "what"}],
    "steps": [task("a")],
}
AMENDMENT = {
    "proposed_by": "planner",
    "kind": "forward",
    "reason": "One more",
    "operations": [{"op": "insert_after", "target_step_id": "work", "step": task("extra")}],
}

ROWS: dict[str, Row] = {
    "GET schema/": Row(EVERYBODY),
    "GET docs/": Row(EVERYBODY),
    # Principals and the audit
    "GET me": Row(READ),
    "GET audit": Row(OVERSEE),
    # Workflows
    "GET workflows": Row(READ),
    "POST workflows": Row(WORK, plan(), 201),
    "GET workflows/<id:workflow_id>": Row(READ),
    "PUT workflows/<id:workflow_id>": Row(WORK, {"title": "B", "steps": [task("z")], "based_on": 1}),
    "PATCH workflows/<id:workflow_id>": Row(REVIEW, {"project": "apollo"}),
    "DELETE workflows/<id:workflow_id>": Row(ADMINISTER),
    "GET workflows/<id:workflow_id>/versions": Row(READ),
    "GET workflows/<id:workflow_id>/versions/<int:number>": Row(READ, on=APPROVED),
    "GET workflows/<id:workflow_id>/revisions": Row(READ),
    "GET workflows/<id:workflow_id>/revisions/<int:number>": Row(READ),
    "GET workflows/<id:workflow_id>/diff": Row(READ, on=APPROVED),
    "POST workflows/<id:workflow_id>/approve": Row(DECIDE, {}),
    "POST workflows/<id:workflow_id>/send-back": Row(REVIEW, {"reason": "Not yet"}),
    "POST workflows/<id:workflow_id>/archive": Row(DECIDE, {}),
    "POST workflows/<id:workflow_id>/clone": Row(WORK, {}, 201),
    "POST workflows/<id:workflow_id>/reopen": Row(DECIDE, {}, on=APPROVED),
    "GET workflows/<id:workflow_id>/notes": Row(READ),
    "POST workflows/<id:workflow_id>/notes": Row(REVIEW, {"body": "Why?"}, 201),
    "PATCH workflows/<id:workflow_id>/notes/<id:note_id>": Row(REVIEW, {}),
    "POST workflows/<id:workflow_id>/seen": Row(PEOPLE, {"revision": 1}),
    "GET projects": Row(READ),
    # Policies
    "GET config/approval-policy": Row(OVERSEE),
    "PUT config/approval-policy": Row(ADMINISTER, {"rules": []}),
    "GET config/workflow-approval-policy": Row(OVERSEE),
    "PUT config/workflow-approval-policy": Row(ADMINISTER, {"rules": []}),
    # Templates
    "GET templates": Row(READ),
    "POST templates": Row(WORK, TEMPLATE, 201),
    "GET templates/<id:template_id>": Row(READ),
    "GET templates/<id:template_id>/export": Row(READ),
    "DELETE templates/<id:template_id>": Row(ADMINISTER),
    "POST templates/<id:template_id>/archive": Row(WORK, {}),
    "POST templates/<id:template_id>/workflows": Row(WORK, {"parameters": {"what": "it"}}, 201),
    "POST workflows/<id:workflow_id>/template": Row(WORK, {"substitutions": {}}, 201),
    # Runs
    "POST workflows/<id:workflow_id>/runs": Row(WORK, {}, 201, on=APPROVED),
    "GET runs": Row(READ),
    "GET runs/<id:run_id>": Row(READ),
    "GET runs/<id:run_id>/definition": Row(READ),
    "GET runs/<id:run_id>/next": Row(READ),
    "GET runs/<id:run_id>/updates": Row(READ),
    "GET runs/<id:run_id>/events": Row(READ),
    "POST runs/<id:run_id>/cancel": Row(DECIDE, {}),
    "POST runs/<id:run_id>/acknowledge": Row(REVIEW, {}, on={"run_id": "run_failed"}),
    "POST runs/<id:run_id>/steps/<id:step_id>/updates": Row(WORK, REPORT),
    "POST runs/<id:run_id>/state/<statepath:path>/updates": Row(WORK, REPORT, on=BODY_STEP),
    "POST runs/<id:run_id>/steps/<id:step_id>/instances/<id:instance_id>/steps/<id:body_step_id>/updates": Row(
        WORK, REPORT, on=INSTANCE
    ),
    "POST runs/<id:run_id>/steps/<id:step_id>/instances": Row(WORK, {"kind": "branch"}, 201, on=CONSTRUCT),
    "POST runs/<id:run_id>/state/<statepath:path>/instances": Row(
        WORK, {"kind": "branch"}, 201, on=CONSTRUCT
    ),
    "POST runs/<id:run_id>/steps/<id:step_id>/instances/<id:instance_id>/updates": Row(
        WORK, REPORT, on=INSTANCE
    ),
    "POST runs/<id:run_id>/instance-updates/<statepath:path>": Row(WORK, REPORT, on=INSTANCE),
    "POST runs/<id:run_id>/steps/<id:step_id>/resolution": Row(
        DECIDE, {"decision": "approved"}, on=CHECKPOINT
    ),
    "POST runs/<id:run_id>/resolutions/<statepath:path>": Row(
        DECIDE, {"decision": "approved"}, on=CHECKPOINT
    ),
    # Questions, stale marks, artifacts
    "POST runs/<id:run_id>/steps/<id:step_id>/questions": Row(WORK, {"text": "Which?"}, 201),
    "POST runs/<id:run_id>/questions/<statepath:path>": Row(WORK, {"text": "Which?"}, 201, on=BODY_STEP),
    "POST runs/<id:run_id>/steps/<id:step_id>/questions/withdraw": Row(
        WORK, {"question_id": "question_id"}, on=ASKED
    ),
    "POST runs/<id:run_id>/question-withdrawals/<statepath:path>": Row(
        WORK, {"question_id": "question_id"}, on=ASKED
    ),
    "POST runs/<id:run_id>/steps/<id:step_id>/questions/answer": Row(DECIDE, ANSWER, on=ASKED),
    "POST runs/<id:run_id>/answers/<statepath:path>": Row(DECIDE, ANSWER, on=ASKED),
    "POST runs/<id:run_id>/steps/<id:step_id>/stale": Row(DECIDE, {"reason": "Lost"}),
    "POST runs/<id:run_id>/stale/<statepath:path>": Row(DECIDE, {"reason": "Lost"}, on=BODY_STEP),
    "POST runs/<id:run_id>/steps/<id:step_id>/instances/<id:instance_id>/stale": Row(
        DECIDE, {"reason": "Lost"}, on=INSTANCE
    ),
    "POST runs/<id:run_id>/instance-stale/<statepath:path>": Row(DECIDE, {"reason": "Lost"}, on=INSTANCE),
    "POST runs/<id:run_id>/artifacts/<id:artifact_id>/comments": Row(REVIEW, {"body": "Good"}, 201),
    # Amendments
    "GET runs/<id:run_id>/amendments": Row(READ),
    "POST runs/<id:run_id>/amendments": Row(WORK, AMENDMENT, 201),
    "GET amendments": Row(READ),
    "GET amendments/<id:amendment_id>": Row(READ),
    "GET amendments/<id:amendment_id>/diff": Row(READ),
    "POST amendments/<id:amendment_id>/approve": Row(DECIDE, {}),
    "POST amendments/<id:amendment_id>/reject": Row(DECIDE, {"reason": "No"}),
    "POST amendments/<id:amendment_id>/withdraw": Row(OWN, {}),
    "GET waiting": Row(READ),
}


def routes() -> Iterator[str]:
    """Every route below ``/v1`` with each of its methods: ``POST workflows``."""

    def walk(patterns: list[Any], prefix: str) -> Iterator[tuple[str, Any]]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLPattern):
                yield route, pattern.callback
            else:
                yield from walk(pattern.url_patterns, route)

    for route, callback in walk(get_resolver().url_patterns, ""):
        view = getattr(callback, "view_class", None) or getattr(callback, "cls", None)
        if route.startswith("v1/") and view is not None:
            for method in ("get", "post", "put", "patch", "delete"):
                if hasattr(view, method):
                    yield f"{method.upper()} {route.removeprefix('v1/')}"


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    assert sorted(routes()) == sorted(ROWS)


# -- The calls -------------------------------------------------------------------------------------


@pytest.fixture
def principals(
    api_as: ApiAs, make_token: Make, harness_token: str, relay_token: str, owner: User, rita: User, vic: User
) -> dict[str, APIClient]:
    """A client for each, all of them known before the calls begin."""
    revoked = make_token("admin", username="owner", name="revoked")
    expired = make_token("admin", username="owner", name="expired", expires_days=1)
    ApiToken.objects.filter(name="revoked").update(revoked_at=clock.now())
    ApiToken.objects.filter(name="expired").update(expires_at=clock.now())
    return {
        "anonymous": api_as(None),
        "revoked token": api_as(revoked),
        "expired token": api_as(expired),
        "viewer token": api_as(make_token("viewer")),
        "viewer session": api_as(vic),
        HARNESS: api_as(harness_token),
        RELAY: api_as(relay_token),
        "reviewer token": api_as(make_token("reviewer", username="rita", name="ritas")),
        "reviewer session": api_as(rita),
        "admin token": api_as(make_token("admin", username="owner", name="owners")),
        "admin session": api_as(owner),
    }


@pytest.fixture
def world(principals: dict[str, APIClient]) -> dict[str, str]:
    """One of everything that a route names, at a status where its row is legal; the ids."""
    ids = dict(WORLD)
    person, planner = principals["admin session"], principals[HARNESS]

    def made(api: APIClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = api.post(f"/v1/{path}", body, format="json")
        assert answer.status_code in (200, 201), (path, answer.content)
        document: dict[str, Any] = answer.json()
        return document

    steps = [
        task("work"),
        task("asking"),
        checkpoint("ok"),
        parallel("spread", ["each"]),
        task("each"),
    ]
    made(planner, "workflows", plan(workflow_id="wf_draft"))
    ids["note_id"] = made(person, "workflows/wf_draft/notes", {"body": "Why?"})["note_id"]
    for name in ("approved", "run", "failed", "amended"):
        made(planner, "workflows", plan(*steps, workflow_id=f"wf_{name}"))
        made(person, f"workflows/wf_{name}/approve", {})
    made(person, "workflows/wf_approved/reopen", {})  # two versions, so that there is a difference
    made(person, "workflows/wf_approved/approve", {})
    made(planner, "templates", TEMPLATE | {"template_id": "tpl_1"})
    made(planner, "workflows/wf_run/runs", {"run_id": "run_1"})
    artifact = {"artifact_id": "art_1", "type": "text", "data": "x"}
    made(planner, "runs/run_1/steps/work/updates", {**REPORT, "status": "running", "artifacts": [artifact]})
    made(
        planner, "runs/run_1/steps/ok/updates", {**REPORT, "status": "running"}
    )  # reached: it waits for a person
    made(planner, "runs/run_1/steps/asking/updates", {**REPORT, "status": "running"})
    made(planner, "runs/run_1/steps/spread/instances", {"kind": "branch", "instance_id": "b1"})
    made(planner, "runs/run_1/state/spread/b1/each/updates", {**REPORT, "status": "running"})
    asked = made(planner, "runs/run_1/steps/asking/questions", {"text": "Which?"})
    ids["question_id"] = asked["step_states"]["asking"]["questions"][0]["question_id"]
    made(planner, "workflows/wf_failed/runs", {"run_id": "run_failed"})
    made(planner, "runs/run_failed/steps/work/updates", {**REPORT, "status": "failed"})
    made(planner, "runs/run_failed/steps/asking/updates", {**REPORT, "status": "failed"})
    made(planner, "workflows/wf_amended/runs", {"run_id": "run_amended"})
    ids["amendment_id"] = made(planner, "runs/run_amended/amendments", AMENDMENT)["amendment_id"]
    return ids


def call(api: APIClient, name: str, row: Row, ids: dict[str, str]) -> Any:
    """Make the call of a row."""
    method, route = name.split(" ", 1)
    here = ids | row.on
    path = re.sub(r"<\w+:(\w+)>", lambda found: here[found[1]], route)
    body = row.body
    if body is not None and "question_id" in body:
        body = body | {"question_id": ids["question_id"]}
    return getattr(api, method.lower())(f"/v1/{path}", body, format="json" if body is not None else None)


def test_everyone_may_do_what_the_contract_says_and_nothing_else(
    principals: dict[str, APIClient], world: dict[str, str]
) -> None:
    wrong = []
    for name, row in ROWS.items():
        for who, api in principals.items():
            before = AuditEntry.objects.count()
            savepoint = connection.savepoint()
            answer = call(api, name, row, world)
            expected = row.status if who in row.may else 401 if who in NOBODY else 403
            code = {401: "unauthenticated", 403: "forbidden"}.get(expected)
            if answer.status_code != expected or (code and answer.json()["error"]["code"] != code):
                wrong.append(
                    f"{name} as {who}: {answer.status_code} instead of {expected}: {answer.content[:160]!r}"
                )
            if code and AuditEntry.objects.count() != before:
                wrong.append(f"{name} as {who}: was refused, and audited")
            connection.savepoint_rollback(savepoint)
            plan_cache.clear()
            token_cache.forget()
    assert not wrong, "\n".join(wrong)
