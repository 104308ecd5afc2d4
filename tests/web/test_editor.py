"""The plan editor: a draft as forms, saved as a revision under the person's name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from chief_project.web.plan_form import unpacked
from tests.plans import checkpoint, loop, task
from tests.workflows import new_approved, new_draft, revised
from workflows.models import Revision, Workflow
from workflows.selectors import get_workflow
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow

pytestmark = pytest.mark.django_db


@pytest.fixture
def web(web_as: Callable[..., Client], rita: User) -> Client:
    return web_as(rita)


def edit_url(workflow: dict[str, Any]) -> str:
    return reverse("workflow-edit", kwargs={"workflow_id": workflow["workflow_id"]})


def sheet_of(response: Any) -> dict[str, str]:
    """What a browser would send of the page's form, no button pressed."""
    context = response.context
    sheet = context["sheet"]
    data = {"reason": context["reason"]}
    if context["workflow"]:
        data["based_on"] = str(context["based_on"])
    if sheet.as_json:
        return data | {"json": sheet.json}
    data |= {"document": context["document"], "place": "plan" if sheet.place is None else str(sheet.place)}
    return data | {box.name: box.value for box in context["form"].data()}


def pressed(web: Client, url: str, sheet: dict[str, str], do: str, **typed: str) -> Any:
    return web.post(url, sheet | {name.replace("__", "."): text for name, text in typed.items()} | {"do": do})


def opened(web: Client, url: str, step: str | None = None) -> dict[str, str]:
    return sheet_of(web.get(url, {"step": step} if step else None))


# -- Who, and when ---------------------------------------------------------------------------------


def test_a_viewer_reads_why_there_is_no_form(web_as: Any, vic: User, harness: Caller) -> None:
    made = new_draft(harness)
    answer = web_as(vic).get(edit_url(made))
    assert answer.status_code == 200
    assert "You may read plans, not write them" in answer.text
    assert 'id="editor"' not in answer.text


def test_what_a_viewer_sends_is_refused_and_kept(
    web_as: Any, vic: User, web: Client, harness: Caller
) -> None:
    made = new_draft(harness)
    sheet = opened(web, edit_url(made))
    answer = pressed(web_as(vic), edit_url(made), sheet, "save", p__title="Mine")
    assert answer.status_code == 403
    assert Workflow.objects.get().title == "A plan"


def test_an_approved_plan_changes_by_amendments(web: Client, reviewer: Caller) -> None:
    made = new_approved(reviewer)
    text = web.get(edit_url(made)).text
    assert "it changes by amendments" in text
    assert reverse("workflow-runs", kwargs={"workflow_id": made["workflow_id"]}) in text


def test_an_archived_plan_is_cloned_first(web: Client, reviewer: Caller) -> None:
    made = new_draft(reviewer)
    archive_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    assert "Clone it" in web.get(edit_url(made)).text


def test_a_plan_that_was_approved_meanwhile_keeps_what_was_typed(
    web: Client, reviewer: Caller, harness: Caller
) -> None:
    made = new_draft(harness, workflow_id="w")
    sheet = opened(web, edit_url(made))
    approve_workflow(caller=reviewer, workflow_id="w")
    answer = pressed(web, edit_url(made), sheet, "save", p__title="Too late")
    assert answer.status_code == 409
    assert "Too late" in answer.text
    assert Revision.objects.count() == 1


def test_an_unknown_workflow_has_no_editor(web: Client) -> None:
    assert web.get("/workflows/nowhere/edit").status_code == 404


# -- Revising --------------------------------------------------------------------------------------


def test_a_revision_is_saved_under_the_persons_name(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", criteria=["it holds"]), task("b", depends_on=["a"]))
    sheet = opened(web, edit_url(made), "a")
    answer = pressed(
        web,
        edit_url(made),
        sheet,
        "save",
        s__goal="Better\r\nsaid",
        s__criteria__0="it holds twice",
        reason=" clearer ",
    )
    assert answer.status_code == 303
    assert answer["Location"] == reverse("workflow", kwargs={"workflow_id": made["workflow_id"]})
    newest = Revision.objects.get(number=2)
    assert (newest.by, newest.via, newest.reason) == ("rita", "web", "clearer")
    plan = get_workflow(caller=harness, workflow_id=made["workflow_id"])
    assert plan["steps"][0]["goal"] == "Better\nsaid"
    assert plan["steps"][0]["criteria"] == [{"id": "c1", "text": "it holds twice"}]


def test_an_untouched_save_keeps_the_plan_as_it_is(web: Client, harness: Caller) -> None:
    made = new_draft(
        harness,
        task("a", goal=" odd\r\n", inputs={"x": [1, 1.0, None]}, group="g", criteria=["c"]),
        loop("l", ["b"], exit_when="", instance_params=[{"name": "p", "required": False}]),
        checkpoint("b", fields=[{"name": "f", "label": "", "hint": "h"}]),
        groups=[{"path": "g", "description": "d"}],
    )
    before = get_workflow(caller=harness, workflow_id=made["workflow_id"])
    for step in (None, "a", "l", "b"):
        assert pressed(web, edit_url(made), opened(web, edit_url(made), step), "save").status_code == 303
    after = get_workflow(caller=harness, workflow_id=made["workflow_id"])
    assert [after[key] for key in ("title", "steps", "groups")] == [
        before[key] for key in ("title", "steps", "groups")
    ]


def test_an_edited_plan_keeps_every_number_and_the_order_of_names(web: Client, harness: Caller) -> None:
    inputs = {
        "zz": 1.0,
        "b": 1e22,
        "a": 10**30,
        "one": 1,
        "__proto__": {"y": -0.0, "x": [1.0, 1]},
        "": "",
        "é": "\n",
    }
    made = new_draft(harness, task("a", inputs=inputs, outputs={"z": "", "a": 5}))
    before = get_workflow(caller=harness, workflow_id=made["workflow_id"])["steps"][0]
    sheet = opened(web, edit_url(made), "a")
    at = next(name for name, value in sheet.items() if name.startswith("s.outputs.") and value == "5")
    assert pressed(web, edit_url(made), sheet | {at: "5.0"}, "save").status_code == 303
    after = get_workflow(caller=harness, workflow_id=made["workflow_id"])["steps"][0]
    assert repr(after["inputs"]) == repr(before["inputs"]), (
        "PostgreSQL keeps an order of its own; an edit keeps that"
    )
    assert after["inputs"] == inputs
    assert (after["outputs"]["z"], repr(after["outputs"]["a"])) == ("", "5.0")


def test_problems_refuse_a_save_and_everything_is_kept(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", inputs={"rows": 5}), task("b"))
    sheet = opened(web, edit_url(made), "a")
    answer = pressed(
        web, edit_url(made), sheet, "save", s__goal=" ", s__inputs__0__value='{"x": ', reason="half done"
    )
    assert answer.status_code == 422
    text = answer.text
    assert "Not saved." in text
    assert 'id="e-goal" data-slot="goal">' in text
    assert "half done" in text
    assert "{&quot;x&quot;: </textarea>" in text
    assert 'id="e-inputs-0-value" data-slot="inputs-0-value">' in text
    assert Revision.objects.count() == 1
    again = pressed(web, edit_url(made), sheet_of(answer), "save", s__goal="Now", s__inputs__0__kind="text")
    assert again.status_code == 303
    kept = get_workflow(caller=harness, workflow_id=made["workflow_id"])
    assert kept["steps"][0]["inputs"] == {"rows": '{"x": '}


def test_a_plan_that_nobody_has_begun_has_nothing_wrong_with_it(web: Client) -> None:
    page = web.get("/new/workflow")
    assert "must not be blank" not in page.content.decode()
    assert "Checked as you type" in page.content.decode()
    checked = pressed(web, "/new/workflow", sheet_of(page), "check")
    assert "2 problems" in checked.content.decode()
    assert "Checked as you type" not in checked.content.decode()


def test_rows_that_were_never_filled_in_are_left_out(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", criteria=["one"]))
    sheet = sheet_of(pressed(web, edit_url(made), opened(web, edit_url(made), "a"), "add-row:criteria"))
    assert sheet["s.criteria.1"] == ""
    assert pressed(web, edit_url(made), sheet, "save").status_code == 303
    assert len(get_workflow(caller=harness, workflow_id=made["workflow_id"])["steps"][0]["criteria"]) == 1


# -- Somebody else was quicker ---------------------------------------------------------------------


def test_a_revision_in_between_is_shown_and_nothing_is_lost(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"))
    sheet = opened(web, edit_url(made), "a")
    revised(harness, made, task("a", goal="Theirs entirely"), reason="meanwhile")
    answer = pressed(web, edit_url(made), sheet, "save", s__goal="Mine")
    assert answer.status_code == 412
    text = answer.text
    assert "planner made revision 2 while you were writing." in text
    assert re.search(r"<ins>[^<]*entirely</ins>", text), "the difference is on the page"
    assert "Mine</textarea>" in text
    assert Revision.objects.count() == 2
    assert pressed(web, edit_url(made), sheet_of(answer), "save").status_code == 412, "not by the same button"
    assert pressed(web, edit_url(made), sheet_of(answer), "save:2").status_code == 303
    assert get_workflow(caller=harness, workflow_id=made["workflow_id"])["steps"][0]["goal"] == "Mine"


def test_saving_on_top_holds_for_the_revision_that_was_shown(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"))
    sheet = opened(web, edit_url(made), "a")
    revised(harness, made, task("a", goal="Second"))
    revised(harness, made, task("a", goal="Third"))
    answer = pressed(web, edit_url(made), sheet, "save:2", s__goal="Mine")
    assert answer.status_code == 412
    assert "made revision 3" in answer.text


def test_a_button_tells_early_that_somebody_was_quicker(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"))
    sheet = opened(web, edit_url(made))
    revised(harness, made, task("a", goal="Theirs"))
    answer = pressed(web, edit_url(made), sheet, "open:0")
    assert answer.status_code == 200
    assert "made revision 2" in answer.text


# -- Buttons only change what is shown -------------------------------------------------------------


def test_no_button_but_save_writes(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"), task("b"))
    entries = AuditEntry.objects.count()
    sheet = opened(web, edit_url(made), "b")
    for do in (
        "check", "open:0", "open:plan", "open:99", "open:x", "add-step", "add-step:above", "add-step:below", "move:up",
        "move:down", "remove", "add-row:criteria", "drop-row:criteria:0", "drop-row:criteria:x", "add-row:nothing",
        "add-row:inputs", "drop-row:outputs:0", "list:", "list:100", "list:x", "sought",
        "clear:criteria", "json", "forms", "nonsense", "",
    ):  # fmt: skip
        answer = pressed(web, edit_url(made), sheet, do)
        assert answer.status_code == 200, do
    assert (Revision.objects.count(), AuditEntry.objects.count()) == (1, entries)


def test_a_form_sent_without_a_button_loses_nothing(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"))
    answer = web.post(edit_url(made), opened(web, edit_url(made), "a") | {"s.goal": "Typed"})
    assert answer.status_code == 200
    assert "Typed</textarea>" in answer.text
    assert Revision.objects.count() == 1


def test_a_plan_grows_by_buttons(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a1"))
    url = edit_url(made)
    sheet = sheet_of(pressed(web, url, opened(web, url, "a1"), "add-step:below"))
    assert sheet["s.id"] == "a2"
    sheet = sheet_of(
        pressed(web, url, sheet, "check", s__goal="Ask", s__type="checkpoint", s__depends_on__add="a1")
    )
    assert (sheet["s.harness"], sheet["s.depends_on"]) == ("human", "a1")
    sheet = sheet_of(pressed(web, url, sheet, "add-row:fields"))
    sheet = sheet_of(pressed(web, url, sheet, "add-step", s__fields__0__name="why"))
    sheet = sheet_of(pressed(web, url, sheet, "check", s__type="loop", s__goal="Around", s__body="a1\na2"))
    assert pressed(web, url, sheet, "save", s__exit_when="enough").status_code == 303
    steps = get_workflow(caller=harness, workflow_id=made["workflow_id"])["steps"]
    assert [(step["id"], step["type"]) for step in steps] == [
        ("a1", "task"),
        ("a2", "checkpoint"),
        ("a3", "loop"),
    ]
    assert steps[2]["body"] == ["a1", "a2"]
    assert steps[1]["fields"][0]["name"] == "why"


def test_a_step_that_was_removed_can_be_had_back(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"), task("b", depends_on=["a"]), task("c", depends_on=["b"]))
    url = edit_url(made)
    answer = pressed(web, url, opened(web, url, "b"), "remove")
    assert "c waited for it" in answer.text
    gone = unpacked(answer.context["document"])
    assert [step["id"] for step in gone["steps"]] == ["a", "c"]
    back = pressed(web, url, sheet_of(answer) | {"undo": answer.context["sheet"].undo}, "undo")
    assert [step["id"] for step in unpacked(back.context["document"])["steps"]] == ["a", "b", "c"]


def test_what_another_type_left_behind_can_be_taken_out(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", criteria=["it holds"]))
    url = edit_url(made)
    answer = pressed(web, url, opened(web, url, "a"), "check", s__type="checkpoint")
    assert "From another type" in answer.text
    assert answer.context["n_problems"] == 1
    answer = pressed(web, url, sheet_of(answer), "clear:criteria")
    assert answer.context["n_problems"] == 0
    assert "From another type" not in answer.text


# -- As one types ----------------------------------------------------------------------------------


def test_problems_come_alone_while_one_types(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"), task("b", depends_on=["a"]))
    sheet = opened(web, edit_url(made), "b") | {"s.goal": "", "s.depends_on": "nowhere", "do": "check"}
    answer = web.post(edit_url(made), sheet, headers={"HX-Request": "true", "HX-Target": "problems"})
    assert answer.status_code == 200
    assert "<form" not in answer.text
    assert "2 problems" in answer.text
    assert 'data-place="1" data-slot="goal" data-here' in answer.text
    assert "unknown step" in answer.text


def test_htmx_gets_the_form_alone_and_is_sent_on_after_a_save(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"))
    htmx = {"HX-Request": "true", "HX-Target": "editor"}
    sheet = opened(web, edit_url(made), "a")
    part = web.post(edit_url(made), sheet | {"do": "open:plan"}, headers=htmx)
    assert part.text.lstrip().startswith("<form")
    done = web.post(edit_url(made), sheet | {"do": "save"}, headers=htmx)
    assert (done.status_code, done["HX-Redirect"]) == (
        204,
        reverse("workflow", kwargs={"workflow_id": made["workflow_id"]}),
    )


# -- As JSON ---------------------------------------------------------------------------------------


def test_forms_and_json_say_the_same(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", inputs={"n": 1.0}), task("b", depends_on=["a"]))
    url = edit_url(made)
    sheet = sheet_of(pressed(web, url, opened(web, url, "a"), "json", s__goal="Typed first"))
    document = json.loads(sheet["json"])
    assert document["steps"][0]["goal"] == "Typed first"
    document["steps"].append({"id": "c", "type": "task", "goal": "From JSON"})
    sheet = sheet_of(pressed(web, url, sheet | {"json": json.dumps(document)}, "forms"))
    assert unpacked(sheet["document"]) == document
    assert pressed(web, url, sheet, "save").status_code == 303


def test_json_that_cannot_be_read_stays_as_it_was_typed(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"))
    url = edit_url(made)
    for text, told in (
        ('{"title": ', "not JSON"),
        ("[]", "must be an object"),
        ('{"title": "x", "steps": [5]}', "/steps/0"),
    ):
        for do, status in (("forms", 200), ("check", 200), ("save", 422)):
            answer = pressed(web, url, {"json": text, "based_on": "1"}, do)
            assert answer.status_code == status
            assert answer.context["sheet"].json == text
            assert told in answer.text, (text, do)
    assert Revision.objects.count() == 1


def test_json_is_saved_from_where_it_is_edited(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"))
    document = {"title": "Written", "steps": [task("z")]}
    answer = pressed(web, edit_url(made), {"json": json.dumps(document), "based_on": "1"}, "save")
    assert answer.status_code == 303
    assert Workflow.objects.get().title == "Written"


def test_inputs_are_written_row_by_row(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", inputs={"place": "the shed", "rows": 3}))
    url = edit_url(made)
    answer = pressed(web, url, opened(web, url, "a"), "add-row:inputs")
    assert 'id="f-inputs-2-name"' in answer.text
    assert re.search(r'id="f-inputs-2-name"[^>]* autofocus', answer.text)
    filled = {"s__inputs__2__name": "tools", "s__inputs__2__kind": "json"}
    sheet = sheet_of(
        pressed(web, url, sheet_of(answer), "add-row:outputs", **filled, s__inputs__2__value="[1")
    )
    assert sheet["s.inputs.2.value"] == "[1", "kept though it is no JSON yet"
    answer = pressed(web, url, sheet, "save", s__outputs__0__name="place")
    assert answer.status_code == 422
    assert "this is not JSON" in answer.text
    assert pressed(web, url, sheet_of(answer), "save", s__inputs__2__value="[1.0]").status_code == 303
    kept = get_workflow(caller=harness, workflow_id=made["workflow_id"])["steps"][0]
    assert kept["inputs"] == {"place": "the shed", "rows": 3, "tools": [1]}
    assert repr(kept["inputs"]["tools"]) == "[1.0]"
    assert kept["outputs"] == {"place": ""}


@pytest.mark.parametrize("typed", ["1.0", "true"])
def test_a_value_of_another_type_is_a_change_that_leaving_would_lose(
    web: Client, harness: Caller, typed: str
) -> None:
    made = new_draft(harness, task("a", inputs={"x": 1}))
    sheet = opened(web, edit_url(made), "a")
    assert "data-changed" not in pressed(web, edit_url(made), sheet, "open:plan").text
    assert "data-changed" in pressed(web, edit_url(made), sheet, "open:plan", s__inputs__0__value=typed).text


def test_a_row_that_nobody_filled_in_is_not_in_the_json(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", inputs={"x": 1}))
    url = edit_url(made)
    sheet = sheet_of(pressed(web, url, opened(web, url, "a"), "add-row:inputs"))
    answer = pressed(web, url, sheet, "json")
    assert json.loads(answer.context["sheet"].json)["steps"][0]["inputs"] == {"x": 1}


def test_a_row_added_to_what_is_no_list_changes_nothing(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"))
    document = {"title": "x", "steps": [task("a", criteria=5, inputs="text", outputs=[1])]}
    for name in ("criteria", "inputs", "outputs"):
        sheet = {"document": json.dumps(document), "place": "0", "based_on": "1"}
        answer = pressed(web, edit_url(made), sheet, f"add-row:{name}")
        assert answer.status_code == 200
        assert unpacked(answer.context["document"])["steps"] == document["steps"]


def test_nul_is_refused_like_everywhere(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a"))
    answer = pressed(web, edit_url(made), opened(web, edit_url(made), "a"), "save", s__goal="nul \0")
    assert answer.status_code == 422
    assert "NUL" in answer.text


# -- Beginning -------------------------------------------------------------------------------------


def test_a_person_begins_a_plan(web: Client) -> None:
    url = reverse("workflow-new")
    sheet = opened(web, f"{url}?project=Atlas")
    assert sheet["p.project"] == "Atlas"
    sheet = sheet_of(pressed(web, url, sheet, "open:0", p__title="By hand"))
    answer = pressed(web, url, sheet, "save", s__goal="Something is true")
    assert answer.status_code == 303
    made = Workflow.objects.get()
    assert (made.title, made.source, made.project, made.status) == ("By hand", "human", "Atlas", "draft")


def test_a_blank_plan_is_not_submitted(web: Client) -> None:
    url = reverse("workflow-new")
    answer = pressed(web, url, opened(web, url), "save")
    assert answer.status_code == 422
    assert not Workflow.objects.exists()


def test_the_body_of_a_post_can_be_pasted(web: Client) -> None:
    body = {"title": "Pasted", "source": "generated", "generated_by": "a planner", "steps": [task("a")]}
    assert pressed(web, reverse("workflow-new"), {"json": json.dumps(body)}, "save").status_code == 303
    assert Workflow.objects.get().source == "generated"


# -- Size, and who may look ------------------------------------------------------------------------


def test_a_plan_of_a_thousand_steps_has_few_fields(
    web: Client, harness: Caller, django_assert_max_num_queries: Any
) -> None:
    steps = [task(f"s{at:04}", depends_on=[f"s{at - 1:04}"] if at else []) for at in range(1_000)]
    made = new_draft(harness, *steps)
    url = edit_url(made)
    with django_assert_max_num_queries(20):
        sheet = opened(web, url, "s0500")
    assert len(sheet) < 40
    assert pressed(web, url, sheet, "save", s__goal="In the middle").status_code == 303
    assert (
        get_workflow(caller=harness, workflow_id=made["workflow_id"])["steps"][500]["goal"] == "In the middle"
    )


def test_a_long_list_is_read_in_parts_and_searched(web: Client, harness: Caller) -> None:
    made = new_draft(harness, *(task(f"s{at:04}") for at in range(450)))
    url = edit_url(made)

    def places(answer: Any) -> list[int]:
        return [int(each) for each in re.findall(r'<li><button[^>]* data-place="(\d+)"', answer.text)]

    answer = web.get(url, {"step": "s0210"})
    assert places(answer) == list(range(200, 300))
    assert "201–300 of 450" in answer.text
    sheet = sheet_of(answer)
    later = pressed(web, url, sheet, "list:300", s__goal="Typed")
    assert places(later) == list(range(300, 400))
    assert "Typed</textarea>" in later.text, "what is open stays open"
    still = pressed(web, url, sheet_of(later) | {"list": "300"}, "add-row:criteria")
    assert places(still) == list(range(300, 400)), "the list stays where it is"
    opened_there = pressed(web, url, sheet_of(later) | {"list": "0"}, "open:320")
    assert places(opened_there) == list(range(300, 400))
    found = pressed(web, url, sheet | {"sought": "s004"}, "check")
    assert places(found) == list(range(40, 50))
    assert "10 steps" in found.text
    assert places(pressed(web, url, sheet | {"sought": "s004"}, "open:44")) == list(range(40, 50))
    assert places(pressed(web, url, sheet | {"sought": "s004"}, "list:")) == list(range(200, 300))
    part = web.post(
        url,
        sheet | {"sought": "s0449", "do": "check"},
        headers={"HX-Request": "true", "HX-Target": "ed-scroll"},
    )
    assert "<form" not in part.text
    assert places(part) == [449]


def test_a_step_of_a_very_large_plan_is_a_page_of_ordinary_size(web: Client, harness: Caller) -> None:
    steps = [
        loop("all", [f"s{at:04}" for at in range(4_999)]),
        *(task(f"s{at:04}", goal="Say what is done here " * 3, inputs={"n": at}) for at in range(4_999)),
    ]
    made = new_draft(harness, *steps)
    for step in (None, "s2500"):
        answer = web.get(edit_url(made), {"step": step} if step else None)
        assert len(answer.content) < 500_000, "4,999 ids of a body are a tenth of it"


def test_hostile_text_stays_text(web: Client, harness: Caller) -> None:
    evil = "</textarea><script>alert(1)</script>"
    made = new_draft(
        harness, task("a", goal=evil, harness=evil, inputs={evil: evil}, criteria=[evil]), title=evil
    )
    for step in (None, "a"):
        assert "<script>alert" not in web.get(edit_url(made), {"step": step} if step else None).text


def test_signed_out_people_sign_in_first(web_as: Any, harness: Caller) -> None:
    made = new_draft(harness)
    answer = web_as(None).get(edit_url(made))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/signin?next=")


def test_a_workflow_called_new_has_its_pages(web: Client, harness: Caller) -> None:
    new_draft(harness, workflow_id="new", title="It is called new")
    for path in ("/workflows/new", "/workflows/new/edit"):
        answer = web.get(path)
        assert answer.status_code == 200
        assert b"It is called new" in answer.content
