"""The plan editor in a browser: problems as one types, nothing lost, by keyboard alone and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Dialog, Page, expect

from tests.browser.browsers import press
from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.plans import task

Allow = Callable[[Page, str], None]
REFUSED = "status of 4(12|22)"
MADE = re.compile(r"/workflows/[^/?]+$")


def a_draft(harness: Harness, title: str) -> str:
    return harness.plan(
        title,
        [
            task("dig", goal="Dig the bed", criteria=["two spades deep"]),
            task("plant", goal="Plant three rows of beans", depends_on=["dig"]),
            task("water", goal="Water every evening", depends_on=["plant"]),
        ],
    )


def open_step(page: Page, workflow_id: str, step_id: str) -> None:
    page.goto(f"/workflows/{workflow_id}/edit?step={step_id}")
    expect(page.locator("#f-id")).to_have_value(step_id)


def tab_to(page: Page, field_id: str) -> None:
    """Tab until the field has the focus."""
    field = page.locator(f"#{field_id}")
    for _ in range(60):
        if field.evaluate("each => each === document.activeElement"):
            return
        press(page, "Tab")
    raise AssertionError(f"{field_id} can't be reached by Tab")


def test_problems_come_and_go_as_one_types(page_of: PageOf, harness: Harness) -> None:
    page = page_of("reviewer")
    open_step(page, a_draft(harness, "As one types"), "plant")
    page.fill("#f-depends_on", "dig\nnowhere")
    problems = page.locator("#problems")
    expect(problems).to_contain_text("1 problem")
    expect(page.locator("#e-depends_on")).to_contain_text("unknown step 'nowhere'")
    expect(page.locator("#f-depends_on")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#f-depends_on")).to_be_focused()
    expect(page.locator(".ed-line[aria-current] [data-bad]")).to_have_text("1")
    page.fill("#f-depends_on", "dig")
    expect(problems).to_contain_text("Nothing is wrong")
    expect(page.locator("#e-depends_on")).to_be_hidden()
    expect(page.locator("#f-depends_on")).not_to_have_attribute("aria-invalid", "true")


def test_a_refused_save_keeps_everything_and_leads_to_the_field(
    page_of: PageOf, harness: Harness, allow: Allow
) -> None:
    workflow_id = a_draft(harness, "Refused")
    page = page_of("reviewer")
    allow(page, REFUSED)
    open_step(page, workflow_id, "plant")
    page.fill("#f-goal", "")
    page.get_by_role("button", name="Add an input").click()
    expect(page.locator("#f-inputs-0-name")).to_be_focused()
    page.fill("#f-inputs-0-name", "beds")
    page.select_option("#f-inputs-0-kind", "json")
    page.fill("#f-inputs-0-value", '{"rows": 3')
    page.get_by_role("button", name="The plan").click()
    expect(page.locator("#f-title")).to_be_visible()
    page.fill("#f-reason", "shorter")
    page.get_by_role("button", name="Save as a revision").click()
    expect(page.get_by_role("alert")).to_be_focused()
    page.locator(".ed-problem", has_text="plant · Inputs").click()
    expect(page.locator("#f-inputs-0-value")).to_be_focused()
    expect(page.locator("#f-inputs-0-value")).to_have_value('{"rows": 3')
    page.fill("#f-inputs-0-value", '{"rows": 3}')
    page.fill("#f-goal", "Plant beans")
    page.get_by_role("button", name="Save as a revision").click()
    expect(page).to_have_url(re.compile(f"/workflows/{workflow_id}$"))
    kept = harness.get(f"/workflows/{workflow_id}")
    assert (kept["revision"], kept["steps"][1]["goal"], kept["steps"][1]["inputs"]) == (
        2,
        "Plant beans",
        {"beds": {"rows": 3}},
    )
    assert harness.get(f"/workflows/{workflow_id}/revisions")[-1]["reason"] == "shorter"


def test_inputs_are_written_by_keyboard_with_their_problems_at_the_row(
    page_of: PageOf, harness: Harness
) -> None:
    workflow_id = a_draft(harness, "Inputs by keys")
    page = page_of("reviewer")
    open_step(page, workflow_id, "dig")
    keys = page.keyboard
    page.locator("#f-add-inputs").focus()
    for name, value in (("place", "the shed"), ("place", "5")):
        press(page, "Enter")
        expect(page.locator("input[id^=f-inputs-]").last).to_be_focused()
        keys.type(name)
        press(page, "Tab")
        press(page, "Tab")
        keys.type(value)
        for _ in range(2):
            press(page, "Tab")
        expect(page.locator("#f-add-inputs")).to_be_focused()
    expect(page.locator("#e-inputs-1-name")).to_contain_text("stands twice")
    expect(page.locator("#f-inputs-1-name")).to_have_attribute("aria-invalid", "true")
    page.locator("#f-inputs-1-name").focus()
    press(page, "Control+a")
    keys.type("rows")
    press(page, "Tab")
    keys.type("J")
    expect(page.locator("#f-inputs-1-kind")).to_have_value("json")
    expect(page.locator("#problems")).to_contain_text("Nothing is wrong")
    page.get_by_role("button", name="Inputs: take out 1").press("Enter")
    expect(page.locator("#f-add-inputs")).to_be_focused()
    press(page, "Control+Enter")
    expect(page).to_have_url(re.compile(f"/workflows/{workflow_id}$"))
    assert harness.get(f"/workflows/{workflow_id}")["steps"][0]["inputs"] == {"rows": 5}


def test_a_step_of_a_long_plan_is_found_and_opened(page_of: PageOf, harness: Harness) -> None:
    workflow_id = harness.plan("Long", [task(f"s{at:03}", goal=f"Do part {at}") for at in range(420)])
    page = page_of("reviewer")
    open_step(page, workflow_id, "s250")
    expect(page.locator(".ed-line[aria-current]")).to_be_in_viewport()
    page.get_by_role("button", name="Later steps").click()
    expect(page.locator("#ed-scroll .ed-line").first).to_contain_text("s300")
    expect(page.locator("#f-id")).to_have_value("s250")
    # Then the answer has given the focus where it goes.
    expect(page.locator(".htmx-settling")).to_have_count(0)
    press(page, "Escape")
    press(page, "/")
    expect(page.locator("#f-sought")).to_be_focused()
    page.keyboard.type("part 41")
    expect(page.locator("#ed-scroll .ed-line")).to_have_count(11)
    expect(page.locator("#f-sought")).to_be_focused()
    page.locator("#ed-scroll .ed-line", has_text="s417").click()
    expect(page.locator("#f-id")).to_have_value("s417")
    expect(page.locator("#ed-scroll .ed-line")).to_have_count(11)
    page.get_by_role("button", name="All steps").click()
    expect(page.locator("#ed-scroll .ed-line")).to_have_count(20)
    wide = page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
    assert wide[0] == wide[1], "the panes scroll, and not the page"
    page.goto("/workflows")
    expect(page).to_have_url(re.compile("/workflows$"))


def test_leaving_warns_and_what_was_typed_comes_back(page_of: PageOf, harness: Harness) -> None:
    workflow_id = a_draft(harness, "Left behind")
    page = page_of("reviewer")
    open_step(page, workflow_id, "plant")
    page.fill("#f-goal", "Plant peas instead")
    page.get_by_role("button", name="Add a step Below").click()
    expect(page.locator("#f-goal")).to_be_focused()
    page.keyboard.type("Put up sticks")
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    page.goto("/workflows")
    assert asked == ["beforeunload"]
    page.goto(f"/workflows/{workflow_id}/edit")
    page.get_by_role("button", name="Bring them back").click()
    expect(page.locator("#f-goal")).to_have_value("Put up sticks")
    expect(page.locator(".ed-lines")).to_contain_text("Plant peas instead")
    page.get_by_role("button", name="Save as a revision").click()
    expect(page).to_have_url(re.compile(f"/workflows/{workflow_id}$"))
    page.wait_for_load_state()
    assert [step["goal"] for step in harness.get(f"/workflows/{workflow_id}")["steps"]][1:3] == [
        "Plant peas instead",
        "Put up sticks",
    ]
    page.goto(f"/workflows/{workflow_id}/edit")
    expect(page.locator("#editor")).to_be_visible()
    expect(page.locator("[data-kept]")).to_be_hidden()


def test_what_was_brought_back_and_saved_before_the_scripts_came_is_not_offered_again(
    page_of: PageOf, harness: Harness, allow: Allow
) -> None:
    workflow_id = a_draft(harness, "Saved at once")
    page = page_of("reviewer")
    allow(page, "ERR_FAILED|status of 502|favicon.ico")
    open_step(page, workflow_id, "plant")
    page.fill("#f-goal", "Plant beans instead")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/workflows")
    page.goto(f"/workflows/{workflow_id}/edit")
    # A server that stumbles takes nothing.
    page.route("**/edit", lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"), times=1)
    page.get_by_role("button", name="Bring them back").click()
    expect(page.get_by_role("heading", name="Bad gateway")).to_be_visible()
    page.goto(f"/workflows/{workflow_id}/edit")
    page.route("**/*.js", lambda route: route.abort())
    page.get_by_role("button", name="Bring them back").click()
    expect(page.locator(".ed-lines")).to_contain_text("Plant beans instead")
    page.unroute("**/*.js")
    page.get_by_role("button", name="Save as a revision").click()
    expect(page).to_have_url(re.compile(f"/workflows/{workflow_id}$"))
    page.wait_for_load_state()
    page.goto(f"/workflows/{workflow_id}/edit")
    expect(page.locator("[data-kept]")).to_be_hidden()


def test_whoever_was_quicker_is_shown_and_nothing_is_overwritten_unasked(
    page_of: PageOf, harness: Harness, allow: Allow
) -> None:
    workflow_id = a_draft(harness, "Two at once")
    page = page_of("reviewer")
    allow(page, REFUSED)
    open_step(page, workflow_id, "water")
    page.fill("#f-goal", "Water when it is dry")
    kept = harness.get(f"/workflows/{workflow_id}")
    kept["steps"][0]["goal"] = "Dig the bed three spades deep"
    harness.put(f"/workflows/{workflow_id}", {"title": kept["title"], "steps": kept["steps"]})
    page.get_by_role("button", name="Save as a revision").click()
    expect(page.get_by_role("heading", name="made revision 2 while you were writing")).to_be_visible()
    expect(page.locator(".ed-meanwhile ins")).to_contain_text("three spades deep")
    expect(page.locator("#f-goal")).to_have_value("Water when it is dry")
    assert harness.get(f"/workflows/{workflow_id}")["revision"] == 2
    page.get_by_role("button", name="Save mine on top of revision 2").click()
    expect(page).to_have_url(re.compile(f"/workflows/{workflow_id}$"))
    assert harness.get(f"/workflows/{workflow_id}")["revision"] == 3


def test_a_plan_is_written_by_keyboard_alone(page_of: PageOf, harness: Harness) -> None:
    page = page_of("reviewer")
    page.goto("/new/workflow")
    keys = page.keyboard
    tab_to(page, "f-title")
    keys.type("By hand alone")
    press(page, "Escape")
    press(page, "j")
    press(page, "j")
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Step 1 of 1")).to_be_focused()
    tab_to(page, "f-goal")
    keys.type("The bed is dug")
    tab_to(page, "f-add-criteria")
    press(page, "Enter")
    expect(page.locator("#f-criteria-0")).to_be_focused()
    keys.type("two spades deep")
    press(page, "Control+Enter")
    expect(page).to_have_url(MADE)
    expect(page.get_by_role("heading", name="By hand alone")).to_be_visible()
    made = harness.get(f"/workflows/{page.url.rpartition('/')[2]}")
    assert made["steps"][0]["criteria"] == [{"id": "c1", "text": "two spades deep"}]


def test_a_plan_is_written_without_scripts(page_of: PageOf, harness: Harness) -> None:
    page = page_of("reviewer", java_script_enabled=False)
    page.goto("/new/workflow")
    page.fill("#f-title", "Without scripts")
    page.locator(".ed-lines .ed-line").first.click()
    page.fill("#f-goal", "The bed is dug")
    page.get_by_role("button", name="Add a step Below").click()
    page.select_option("#f-type", "checkpoint")
    page.get_by_role("button", name="Show the fields of this type").click()
    page.fill("#f-goal", "Plant now?")
    page.fill("#f-depends_on-add", "step_01")
    page.press("#f-depends_on-add", "Enter")
    expect(page.locator("#f-depends_on")).to_have_value("step_01")
    page.get_by_role("button", name="Add a field").click()
    page.fill("#f-fields-0-name", "beans")
    page.get_by_role("button", name="Add an input").click()
    page.fill("#f-inputs-0-name", "rows")
    page.select_option("#f-inputs-0-kind", "json")
    page.fill("#f-inputs-0-value", "3")
    page.get_by_role("button", name="Edit as JSON").click()
    expect(page.locator("#f-json")).to_have_value(re.compile('"name": "beans"'))
    expect(page.locator("#f-json")).to_have_value(re.compile('"rows": 3'))
    page.get_by_role("button", name="Back to forms").click()
    page.get_by_role("button", name="Submit the draft").click()
    expect(page).to_have_url(MADE)
    expect(page.get_by_role("heading", name="Without scripts")).to_be_visible()
    made = harness.get(f"/workflows/{page.url.rpartition('/')[2]}")
    assert [(step["id"], step["type"], step["depends_on"]) for step in made["steps"]] == [
        ("step_01", "task", []),
        ("step_02", "checkpoint", ["step_01"]),
    ]


def test_a_template_is_filled_in_before_ones_eyes(page_of: PageOf, harness: Harness) -> None:
    harness.post(
        "/templates",
        {
            "template_id": "bed",
            "title": "A bed of {{ what }}",
            "parameters": [{"name": "what"}],
            "steps": [task("plant", goal="Plant {{ what }}", criteria=["{{ what }} grow"])],
        },
    )
    page = page_of("reviewer")
    page.goto("/templates/bed")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("1 value is missing")
    page.get_by_label("what").fill("peas")
    expect(preview).to_contain_text("Plant peas")
    expect(preview).to_contain_text("peas grow")
    expect(preview).not_to_contain_text("missing")
    expect(page.get_by_label("what")).to_be_focused()
    page.get_by_role("button", name="Make the workflow").click()
    expect(page.get_by_role("heading", name="A bed of peas")).to_be_visible()


def test_an_answer_that_is_no_editor_does_not_take_its_place(
    page_of: PageOf, harness: Harness, allow: Allow
) -> None:
    workflow_id = a_draft(harness, "A server that stumbles")
    page = page_of("reviewer")
    allow(page, "status of 502|ERR_FAILED|htmx:")
    open_step(page, workflow_id, "dig")
    page.fill("#f-goal", "Dig it all")
    page.route("**/edit", lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"))
    page.get_by_role("button", name="Save as a revision").click()
    expect(page.locator("[data-failed]")).to_be_focused()
    expect(page.locator("#f-goal")).to_have_value("Dig it all")
    page.unroute("**/edit")
    page.route("**/edit", lambda route: route.abort())
    page.get_by_role("button", name="The plan").click()
    expect(page.get_by_text("That didn’t get through")).to_be_visible()
    page.unroute("**/edit")
    page.get_by_role("button", name="Save as a revision").click()
    expect(page).to_have_url(re.compile(f"/workflows/{workflow_id}$"))
    assert harness.get(f"/workflows/{workflow_id}")["steps"][0]["goal"] == "Dig it all"
