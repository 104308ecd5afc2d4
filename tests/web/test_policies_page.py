"""The policies page: rules are tried as they are written, kept on one button, and never over another person's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from amendments.selectors.policy import approval_rules
from amendments.services.update_approval_policy import update_approval_policy
from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, ConfigDocument, User
from tests.amendments import insert_after, propose, update
from tests.plans import checkpoint, task
from tests.runs import new_run
from workflows.selectors.policy import workflow_approval_rules

pytestmark = pytest.mark.django_db
WebAs = Callable[..., Client]
FORWARD = "amendment.kind == 'forward'"


def form(*rules: tuple[str, str, str], do: str, based_on: str = "") -> dict[str, Any]:
    """What the form sends: each rule as (id, match, ``yes`` or ``no``)."""
    return {
        "form": "amendments",
        "do": do,
        "based_on": based_on,
        "row": [str(number) for number in range(len(rules))],
        "id": [rule[0] for rule in rules],
        "match": [rule[1] for rule in rules],
        "auto_approve": [rule[2] for rule in rules],
    }


def based_on(web: Client, key: str = "amendments") -> str:
    said = web.get("/policies").content.decode()
    sheet = said[said.index(f'id="{key}"') :]
    found = re.search(r'name="based_on" value="(\w+)"', sheet)
    assert found is not None
    return found[1]


def ids_in(said: str) -> list[str]:
    return re.findall(r'name="id" value="([^"]*)"', said)


def nothing_written() -> bool:
    kept = ConfigDocument.objects.exists()
    return not kept and not AuditEntry.objects.filter(event__startswith="config.").exists()


def keep(admin: Caller, *rules: dict[str, Any]) -> None:
    update_approval_policy(caller=admin, rules=list(rules))


# -- Reading ---------------------------------------------------------------------------------------


def test_whoever_may_oversee_reads_them_and_only_an_admin_gets_forms(
    web_as: WebAs, owner: User, vic: User, admin: Caller
) -> None:
    keep(admin, {"id": "quick", "match": f"{FORWARD} && amendment.actor == '<ci>'", "auto_approve": True})
    read = web_as(vic).get("/policies").content.decode()
    assert "amendment.actor == &#x27;&lt;ci&gt;&#x27;" in read
    assert "Last changed by owner" in read
    assert "Trust actor" in read
    assert "<textarea" not in read
    edited = web_as(owner).get("/policies").content.decode()
    assert ids_in(edited) == ["quick"]
    assert "Provably false for every history edit." in edited


def test_a_harness_has_no_pages_and_the_signed_out_sign_in(web_as: WebAs) -> None:
    assert web_as(None).get("/policies")["Location"] == "/signin?next=%2Fpolicies"


# -- Keeping ---------------------------------------------------------------------------------------


def test_what_is_saved_is_kept_in_order(web_as: WebAs, owner: User) -> None:
    web = web_as(owner)
    sent = form(
        ("", f"{FORWARD}\r\n&& amendment.run_id == 'r'", "yes"),
        ("rest", "true", "no"),
        do="save",
        based_on=based_on(web),
    )
    answer = web.post("/policies/amendments/edit", sent)
    assert (answer.status_code, answer["Location"]) == (303, "/policies#amendments")
    assert approval_rules() == [
        {"id": "rule_1", "match": f"{FORWARD}\n&& amendment.run_id == 'r'", "auto_approve": True},
        {"id": "rest", "match": "true", "auto_approve": False},
    ]
    assert AuditEntry.objects.get(event="config.approval_policy_updated").via == "web"
    assert "The policy is kept." in web.get("/policies").content.decode()


def test_the_other_policy_is_kept_apart(web_as: WebAs, owner: User) -> None:
    web = web_as(owner)
    sent = form(("t", "workflow.template_id == 'x'", "yes"), do="save", based_on=based_on(web, "workflows"))
    assert web.post("/policies/workflows/edit", sent).status_code == 303
    assert [rule["id"] for rule in workflow_approval_rules()] == ["t"]
    assert approval_rules() == []


def test_a_refused_policy_says_where_and_keeps_what_was_typed(web_as: WebAs, owner: User) -> None:
    web = web_as(owner)
    sent = form(
        ("a", "amendment.actor = 'x'", "yes"), ("b", "true", "yes"), do="save", based_on=based_on(web)
    )
    answer = web.post("/policies/amendments/edit", sent)
    assert answer.status_code == 422
    said = answer.content.decode()
    assert "Nothing was changed." in said
    assert "write &#x27;==&#x27; to compare" in said
    assert re.search(r"\n +\^", said)  # the place, under the text
    assert "add `amendment.kind == &#x27;forward&#x27; &amp;&amp;` in front" in said
    assert "amendment.actor = &#x27;x&#x27;</textarea>" in said
    assert ids_in(said) == ["a", "b"]
    assert nothing_written()


def test_two_who_edit_at_once_lose_nothing(web_as: WebAs, owner: User, admin: Caller) -> None:
    web = web_as(owner)
    read = based_on(web)
    keep(admin, {"id": "theirs", "match": "true", "auto_approve": False})
    answer = web.post("/policies/amendments/edit", form(("mine", FORWARD, "yes"), do="save", based_on=read))
    assert answer.status_code == 412
    said = answer.content.decode()
    assert "owner changed this policy while you were editing it." in said
    assert "theirs" in said
    assert ids_in(said) == ["mine"]
    assert [rule["id"] for rule in approval_rules()] == ["theirs"]
    again = re.search(r'name="based_on" value="(\w+)"', said)
    assert again is not None
    over = form(("mine", FORWARD, "yes"), do="save", based_on=again[1])
    assert web.post("/policies/amendments/edit", over).status_code == 303
    assert [rule["id"] for rule in approval_rules()] == ["mine"]


def test_trying_does_not_hide_that_another_wrote(web_as: WebAs, owner: User, admin: Caller) -> None:
    web = web_as(owner)
    read = based_on(web)
    keep(admin, {"id": "theirs", "match": "true", "auto_approve": False})
    said = web.post(
        "/policies/amendments/edit", form(("mine", FORWARD, "yes"), do="check", based_on=read)
    ).content.decode()
    assert f'name="based_on" value="{read}"' in said
    assert (
        web.post(
            "/policies/amendments/edit", form(("mine", FORWARD, "yes"), do="save", based_on=read)
        ).status_code
        == 412
    )


def test_a_form_without_what_it_was_based_on_writes_over_nothing(
    web_as: WebAs, owner: User, admin: Caller
) -> None:
    keep(admin, {"id": "theirs", "match": "true", "auto_approve": False})
    sent = form(("mine", FORWARD, "yes"), do="save")
    assert web_as(owner).post("/policies/amendments/edit", sent).status_code == 412


def test_only_an_admin_keeps_one(web_as: WebAs, rita: User, vic: User) -> None:
    for person in (rita, vic):
        answer = web_as(person).post("/policies/amendments/edit", form(("a", "true", "no"), do="save"))
        assert answer.status_code == 403
        assert "may not change the approval policy" in answer.content.decode()
    assert nothing_written()


def test_a_form_of_another_site_keeps_nothing(web_as: WebAs, owner: User) -> None:
    web = web_as(owner, csrf=True)
    assert web.post("/policies/amendments/edit", form(("a", "true", "no"), do="save")).status_code == 403
    assert nothing_written()


# -- Rearranging, which writes nothing -------------------------------------------------------------

THREE = (("a", FORWARD, "yes"), ("b", "true", "no"), ("c", "false", "no"))


@pytest.mark.parametrize(
    ("do", "left"),
    [
        ("up:1", ["b", "a", "c"]),
        ("up:0", ["a", "b", "c"]),
        ("down:1", ["a", "c", "b"]),
        ("down:2", ["a", "b", "c"]),
        ("remove:1", ["a", "c"]),
        ("add", ["a", "b", "c", ""]),
        ("remove:9", ["a", "b", "c"]),
        ("sideways:1", ["a", "b", "c"]),
        ("check", ["a", "b", "c"]),
    ],
)
def test_rules_are_moved_taken_out_and_added_before_they_are_kept(
    web_as: WebAs, owner: User, do: str, left: list[str]
) -> None:
    answer = web_as(owner).post("/policies/amendments/edit", form(*THREE, do=do))
    assert answer.status_code == 200
    said = answer.content.decode()
    assert ids_in(said[said.index('id="amendments"') : said.index('id="workflows"')]) == left
    assert "Not saved yet." in said
    assert nothing_written()


def test_a_rule_that_moves_takes_its_buttons_along(web_as: WebAs, owner: User) -> None:
    said = web_as(owner).post("/policies/amendments/edit", form(*THREE, do="up:2")).content.decode()
    assert re.findall(r'id="amendments-up-(\d)"', said) == ["0", "2", "1"]


def test_with_scripts_only_the_sheet_comes_back(web_as: WebAs, owner: User) -> None:
    said = (
        web_as(owner)
        .post(
            "/policies/amendments/edit",
            form(*THREE, do="add"),
            headers={"HX-Request": "true", "HX-Target": "amendments"},
        )
        .content.decode()
    )
    assert said.lstrip().startswith('<section class="po-sheet" id="amendments"')
    assert "<html" not in said
    assert 'id="workflows"' not in said


# -- As it is typed --------------------------------------------------------------------------------


def test_what_is_typed_is_checked_and_nothing_is_written(web_as: WebAs, vic: User, owner: User) -> None:
    sent = form(("", "amendment.mood == 'bad'", "no"), ("", "false", "yes"), ("", "true", "no"), do="")
    for person in (vic, owner):
        said = web_as(person).post("/policies/amendments/check", sent).content.decode()
        for row in range(3):
            assert f'id="amendments-says-{row}" hx-swap-oob="true"' in said
        assert 'id="amendments-trial"' in said
        assert "unknown field &#x27;amendment.mood&#x27;" in said
        assert "^^^^^^^^^^^^^^" in said
        assert "It never matches anything." in said
        assert "It matches everything: no rule below it is ever asked." in said
        assert "Can’t be saved yet" in said
        assert "<form" not in said
    assert nothing_written()


def test_it_says_what_the_rules_would_have_decided(web_as: WebAs, owner: User, reviewer: Caller) -> None:
    new_run(reviewer, "a", checkpoint("gate", depends_on=["a"]), task("b", depends_on=["gate"]))
    new_run(reviewer, run_id="r2")
    made = propose(reviewer, insert_after("a", task("n")), run_id="r2", reason="<i>Why</i>")["amendment_id"]
    held = propose(reviewer, update(task("b", depends_on=["a"])))["amendment_id"]
    said = (
        web_as(owner).post("/policies/amendments/check", form(("q", FORWARD, "yes"), do="")).content.decode()
    )
    assert "Would have approved <b>1</b> of the last 2 amendments" in said
    assert f'href="/amendments/{made}"' in said
    assert "&lt;i&gt;Why&lt;/i&gt;" in said
    assert "by rule q" in said
    assert f'href="/amendments/{held}"' in said
    assert "it takes checkpoint &#x27;gate&#x27; out of the depends_on" in said
    nothing = web_as(owner).post("/policies/amendments/check", form(("q", FORWARD, "no"), do=""))
    assert "Would have approved none of the last 2 amendments." in nothing.content.decode()


def test_an_unknown_policy_is_not_there(web_as: WebAs, owner: User) -> None:
    assert web_as(owner).post("/policies/others/edit", form(do="save")).status_code == 404
