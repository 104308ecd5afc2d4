"""A plan that isn't the one to decide on: a workflow's revisions and versions, and what a run went by. Read, never acted on."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from tests.amendments import amend, insert_after, propose, remove, update
from tests.plans import loop, task
from tests.runs import new_run
from tests.web.test_workflow_page import words
from tests.workflows import new_draft, revised
from workflows import models
from workflows.mappers import plan_cache
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.label_workflow import label_workflow

pytestmark = pytest.mark.django_db
WebAs = Callable[..., Client]
PLANS = ("/workflows/w/plans/r1", "/workflows/w/plans/r1/outline")
DEFINITIONS = ("/runs/r1/definition", "/runs/r1/definition/outline")


def html(web: Client, path: str, **query: str) -> str:
    answer = web.get(path, query)
    assert answer.status_code == 200, answer.content.decode()[-800:]
    return answer.content.decode()


def said(web: Client, path: str, **query: str) -> str:
    return words(html(web, path, **query).encode())


def links(page: str) -> list[str]:
    return [each.replace("&amp;", "&") for each in re.findall(r"<a [^>]*?href=\"([^\"]+)\"", page)]


def main(page: str) -> str:
    return page[page.index("<main") : page.index("</main>")]


@pytest.fixture
def draft(harness: Caller, reviewer: Caller) -> None:
    """Three revisions of ``w``: step ``old`` is in the first alone, and ``a`` was reworded."""
    made = new_draft(
        harness,
        task("a", goal="Count the rows", criteria=["They are equal"], inputs={"window": "a week"}),
        loop("l", ["x"], depends_on=["a"]),
        task("x"),
        task("old", goal="Ask around", depends_on=["a"]),
        workflow_id="w",
        title="The first title",
    )
    add_review_note(caller=reviewer, workflow_id="w", body="Sums, please", step_id="a")
    add_review_note(caller=reviewer, workflow_id="w", body="Who answers?", step_id="old")
    add_review_note(caller=reviewer, workflow_id="w", body="On all of it")
    body = [loop("l", ["x"], depends_on=["a"]), task("x")]
    revised(harness, made, task("a", goal="Count and sum"), *body, reason="as you asked")
    revised(harness, made, task("a", goal="Count and sum"), *body, task("n"), title="The last title")


# -- A workflow's -------------------------------------------------------------------------------------


def test_a_revision_is_shown_as_it_was_with_the_step_and_what_was_noted_on_it(
    web_as: WebAs, draft: None, vic: User
) -> None:
    web = web_as(vic)
    for path in PLANS:
        text = said(web, path, step="a")
        for part in (
            "The first title",
            "Count the rows",
            "c1 They are equal",
            "window a week",
            "then l , old",
            "Sums, please",
            "on revision 1",
        ):
            assert part in text, part
        assert "Count and sum" not in text
        assert "On all of it" in said(web, path)
        assert "its step is gone" not in said(web, path, step="old")
    assert "as you asked" in said(web, "/workflows/w/plans/r2")
    assert "The goal then: “Count the rows”." in said(web, "/workflows/w/plans/r2", step="a")


def test_it_says_which_one_it_is_and_that_another_one_would_be_approved(
    web_as: WebAs, draft: None, harness: Caller, vic: User
) -> None:
    web = web_as(vic)
    for path in PLANS:
        text = said(web, path)
        assert f"Revision 1 of 3 , by {harness.actor}," in text
        assert "Not what would be approved: that is revision 3." in text
        # beside a step as well, where a part of the page is all that is asked for
        part = web.get(path, {"step": "a"}, headers={"HX-Request": "true", "HX-Target": "panel"})
        assert words(part.content).strip().startswith("Revision 1 of 3 This step as it stands")
    text = said(web, "/workflows/w/plans/r3")
    assert "This is the plan that stands." in text
    assert "Not what would be approved" not in text


def test_nothing_is_decided_noted_or_marked_on_it(
    web_as: WebAs, draft: None, rita: User, owner: User
) -> None:
    before = AuditEntry.objects.count(), models.Seen.objects.count()
    for user in (rita, owner):
        for path in (*PLANS, "/workflows/w/plans/r3"):
            for step in ("", "a"):
                page = main(html(web_as(user), path, step=step))
                assert "<form" not in page
                assert "hx-" not in page
                assert "Approve" not in page
    assert (AuditEntry.objects.count(), models.Seen.objects.count()) == before
    assert "<form" in main(html(web_as(rita), "/workflows/w", step="a")), (
        "the judge sees those that there are"
    )


def test_links_lead_on_to_the_plan_that_stands_to_the_difference_and_to_the_neighbours(
    web_as: WebAs, draft: None, vic: User
) -> None:
    web = web_as(vic)
    found = links(main(html(web, "/workflows/w/plans/r2", step="a")))
    for there in (
        "/workflows/w?step=a",
        "/workflows/w/changes?from=r2&to=r3",
        "/workflows/w/plans/r1",
        "/workflows/w/plans/r3",
        "/workflows/w/plans/r2?step=a",
        "/workflows/w/plans/r2/outline?step=a",
        "/workflows/w/history",
        "/v1/workflows/w/revisions/2",
    ):
        assert there in found, there
        assert web.get(there).status_code == 200, there
    beside = {each.partition("#")[0] for each in found if "step=l" in each}
    assert beside == {"/workflows/w/plans/r2?step=l"}, "a step is selected within the plan that is read"
    assert "/workflows/w/plans/r2/outline?step=l#panel" in links(
        main(html(web, "/workflows/w/plans/r2/outline"))
    )
    assert not [each for each in links(html(web, "/workflows/w/plans/r1")) if "plans/r0" in each]
    assert not [each for each in links(html(web, "/workflows/w/plans/r3")) if "plans/r4" in each]
    assert "This step is not in the plan as it stands." in said(web, "/workflows/w/plans/r1", step="old")


def test_history_and_changes_lead_to_it(web_as: WebAs, draft: None, vic: User) -> None:
    web = web_as(vic)
    history = links(html(web, "/workflows/w/history"))
    assert [each for each in history if "/plans/" in each] == [f"/workflows/w/plans/r{n}" for n in (3, 2, 1)]
    changes = links(html(web, "/workflows/w/changes", **{"from": "r1", "to": "r2"}))
    assert {"/workflows/w/plans/r1", "/workflows/w/plans/r2"} <= set(changes)
    assert "/workflows/w/plans/r1?step=old" in changes, "where a step that went can still be read"
    backwards = links(html(web, "/workflows/w/changes", **{"from": "r2", "to": "r1"}))
    assert "/workflows/w/plans/r1?step=old" in backwards, "and one that came, but is gone by now"


def test_a_note_leads_to_the_plan_that_it_was_written_on(web_as: WebAs, draft: None, vic: User) -> None:
    web = web_as(vic)
    there = "/workflows/w/plans/r1?step=a"
    for path in ("/workflows/w?step=a", "/workflows/w/notes", "/workflows/w/changes?from=r1"):
        assert there in links(html(web, path)), path
    assert "/workflows/w/plans/r1" in links(html(web, "/workflows/w"))


def test_an_approved_version_says_who_approved_it_and_which_one_stands(
    web_as: WebAs, reviewer: Caller, vic: User
) -> None:
    new_run(reviewer, "a", "b", workflow_id="w")
    amend(reviewer, insert_after("a", task("n")))
    web = web_as(vic)
    text = said(web, "/workflows/w/plans/v1")
    assert f"Version 1 of 2 , approved by {reviewer.actor}," in text
    assert "Not the plan that stands: that is version 2." in text
    page = html(web, "/workflows/w/plans/v1")
    assert "/workflows/w/changes?from=v1&to=v2" in links(page)
    assert "/v1/workflows/w/versions/1" in links(page)
    assert "Not the plan that stands: that is version 2." in said(web, "/workflows/w/plans/r1")
    assert "This is the plan that stands." in said(web, "/workflows/w/plans/v2", step="n")
    label_workflow(caller=reviewer, workflow_id="w", changes={"title": "Renamed"})
    assert "This is the plan that stands." in said(web, "/workflows/w/plans/v2")
    archive_workflow(caller=reviewer, workflow_id="w")
    assert "Not the last plan of this workflow." in said(web, "/workflows/w/plans/v1")


def test_what_there_is_not_says_what_there_is(
    web_as: WebAs, draft: None, reviewer: Caller, vic: User
) -> None:
    approve_workflow(caller=reviewer, workflow_id="w")
    web = web_as(vic)
    for name in ("r4", "v2", "r0", "v" + "9" * 60, "latest", "R1"):
        for path in (f"/workflows/w/plans/{name}", f"/workflows/w/plans/{name}/outline"):
            answer = web.get(path)
            assert answer.status_code == 404
            assert "it has r1 to r3 and v1" in words(answer.content)
            assert "/workflows/w/history" in links(answer.content.decode())
    for path in ("/workflows/nowhere/plans/r1", "/workflows/w/plans/r1/nothing", "/workflows/w/plans/"):
        assert web.get(path).status_code == 404
    assert "There is no step “nowhere” in this plan." in said(web, "/workflows/w/plans/r1", step="nowhere")


@pytest.mark.parametrize("view", ["", "/outline"])
def test_an_old_plan_takes_the_same_statements_however_much_there_is(
    web_as: WebAs, harness: Caller, reviewer: Caller, vic: User, view: str
) -> None:
    counts = []
    made = new_draft(harness, *map(task, "ab"), workflow_id="w")
    for number in (1, 12):
        for place in range(number):
            add_review_note(caller=reviewer, workflow_id="w", body="x", step_id="a")
            revised(harness, made, *map(task, "ab"), *(task(f"s{each}") for each in range(place + number)))
        web = web_as(vic)
        web.get(f"/workflows/w/plans/r1{view}")
        plan_cache.clear()
        with CaptureQueriesContext(connection) as asked:
            html(web, f"/workflows/w/plans/r1{view}", step="a")
        counts.append(len(asked))
    assert counts[0] == counts[1]
    assert counts[0] < 40


# -- A run's ------------------------------------------------------------------------------------------


@pytest.fixture
def amended(reviewer: Caller) -> list[str]:
    """A run whose plan two amendments changed, and a third one would; their ids."""
    new_run(reviewer, task("a", goal="Count"), loop("l", ["x"]), task("x"), task("z"), workflow_id="w")
    made = [
        amend(reviewer, insert_after("a", task("n")), reason="we forgot one"),
        amend(reviewer, update(task("a", goal="Count and sum")), remove("z"), reason="sums, too"),
        propose(reviewer, remove("n"), reason="not needed"),
    ]
    return [each["amendment_id"] for each in made]


def test_a_run_shows_the_plan_it_goes_by_and_those_it_went_by(
    web_as: WebAs, amended: list[str], vic: User
) -> None:
    web = web_as(vic)
    shown = {
        "": ("Count and sum", "anlx"),
        "0": ("Count", "alxz"),
        "1": ("Count", "anlxz"),
        "2": ("Count and sum", "anlx"),
    }
    for applied, (goal, steps) in shown.items():
        query = {"applied": applied} if applied else {}
        for path in DEFINITIONS:
            page = html(web, path, step="a", **query)
            assert f"<h2>{goal}</h2>" in page
            drawn = set(re.findall(r"[?&](?:amp;)?step=(\w+)", page[page.index('class="bench"') :]))
            assert drawn == set(steps)
    assert "The plan that this run goes by, after 2 amendments." in said(web, DEFINITIONS[0])
    assert "The plan after 1 of 2 amendments, not the one that this run goes by now." in said(
        web, DEFINITIONS[0], applied="1"
    )
    assert "The plan as the run was registered, version 1; not the one" in said(
        web, DEFINITIONS[1], applied="0"
    )


def test_each_amendment_is_named_between_the_plans_and_leads_to_its_page(
    web_as: WebAs, amended: list[str], vic: User
) -> None:
    for path in DEFINITIONS:
        page = html(web_as(vic), path, applied="1")
        trail = page[page.index('class="trail"') : page.index("</ol>", page.index('class="trail"'))]
        assert links(trail) == [
            f"{path}?applied=0",
            f"/amendments/{amended[0]}",
            f"{path}?applied=1",
            f"/amendments/{amended[1]}",
            path,
        ]
        text = words(trail.encode())
        assert text.index("As registered") < text.index("we forgot one") < text.index("sums, too")
        assert re.search(r'applied=1" aria-current="true"', trail)
        assert f"/amendments/{amended[2]}" in links(page), "the one that waits is told of, too"


def test_every_link_on_an_earlier_plan_stays_with_it_and_its_json_is_one_away(
    web_as: WebAs, amended: list[str], vic: User
) -> None:
    web = web_as(vic)
    for path in DEFINITIONS:
        page = html(web, path, applied="0", step="x")
        for each in links(page[page.index('class="bench"') :]):
            if each.startswith("/runs/r1/definition"):
                assert "applied=0" in each
        assert "/v1/runs/r1/definition?applied=0" in links(page)
        assert f"{DEFINITIONS[1]}?applied=0&step=x" in links(page)
        assert "/runs/r1/table?q=x" in links(page), "a body's step ran as often as there were instances"
        assert "<form" not in main(page)
    became = "/runs/r1?step=z"
    assert became in links(html(web, DEFINITIONS[0], applied="0", step="z"))
    assert web.get(became).status_code == 200, "what an amendment took away is still told"


def test_the_run_its_amendments_and_each_amendment_lead_to_it(
    web_as: WebAs, amended: list[str], vic: User
) -> None:
    web = web_as(vic)
    assert "/runs/r1/definition" in links(html(web, "/runs/r1"))
    assert {"/runs/r1/definition?applied=1", "/runs/r1/definition?applied=2"} <= set(
        links(html(web, "/runs/r1/amendments"))
    )
    second = links(html(web, f"/amendments/{amended[1]}"))
    assert {"/runs/r1/definition?applied=1", "/runs/r1/definition?applied=2"} <= set(second)
    assert [each for each in links(html(web, f"/amendments/{amended[2]}")) if "definition" in each] == [
        "/runs/r1/definition"
    ]


@pytest.mark.parametrize("applied", ["3", "-1", "x", "9" * 40, "1.0", "²"])
def test_an_amendment_that_was_not_applied_says_how_many_were(
    web_as: WebAs, amended: list[str], vic: User, applied: str
) -> None:
    for path in DEFINITIONS:
        answer = web_as(vic).get(path, {"applied": applied})
        assert answer.status_code == 422
        assert "use 0 (as registered) to 2" in words(answer.content)
    assert web_as(vic).get("/runs/nowhere/definition").status_code == 404


@pytest.mark.parametrize("path", DEFINITIONS)
def test_a_definition_takes_the_same_statements_however_many_amendments(
    web_as: WebAs, reviewer: Caller, vic: User, path: str
) -> None:
    new_run(reviewer, task("a"), task("b"))
    counts = []
    for number in (1, 6):
        for each in range(number):
            amend(reviewer, insert_after("a", task(f"n{number}{each}")))
        web = web_as(vic)
        html(web, path)
        plan_cache.clear()
        with CaptureQueriesContext(connection) as asked:
            html(web, path, applied="1", step="a")
        counts.append(len(asked))
    assert counts[0] == counts[1]
    assert counts[0] < 40


def test_texts_of_harnesses_stay_texts_on_old_plans(
    web_as: WebAs, harness: Caller, reviewer: Caller, vic: User
) -> None:
    evil = '"><script>alert(1)</script>{{ 7|add:1 }}'
    made = new_draft(
        harness, task("a", goal=evil, criteria=[evil], inputs={evil: evil}), workflow_id="w", title=evil
    )
    add_review_note(caller=reviewer, workflow_id="w", body=evil, step_id="a")
    revised(harness, made, task("b"), title="Another", reason=evil)
    revised(harness, made, task("b"), task("c"))
    new_run(reviewer, task("a", goal=evil), title=evil)
    amend(reviewer, insert_after("a", task("n", goal=evil)), reason=evil, proposed_by=evil)
    for path in (*PLANS, "/workflows/w/plans/r2", *DEFINITIONS):
        page = html(web_as(vic), path, step="a")
        assert "<script>alert" not in page
        assert "{{ 7|add:1 }}" in words(page.encode())
