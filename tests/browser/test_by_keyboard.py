"""By keyboard alone: a plan of forty steps is reviewed, sent back, read again and approved."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsers import press
from tests.browser.conftest import PageOf
from tests.browser.places import Places
from tests.browser.sites import Harness
from tests.plans import parallel, task

STEPS = 40


def forty_steps() -> list[dict[str, object]]:
    """Eight parts of five steps in a row; the steps of a part after the other's."""
    steps = []
    for part in range(8):
        for number in range(5):
            needs = [f"part{part}-{number - 1}"] if number else [f"part{part - 1}-4"] if part else []
            goal = f"Do piece {number + 1} of part {part + 1}"
            steps.append(task(f"part{part}-{number}", goal=goal, depends_on=needs))
    return steps


def focused(page: Page) -> str:
    """The text of what has the focus."""
    return str(page.evaluate("document.activeElement.textContent.trim().replace(/\\s+/g, ' ')"))


def tab_to(page: Page, name: str, *, at_most: int = 60) -> None:
    """Tab until something called ``name`` has the focus."""
    for _ in range(at_most):
        if focused(page).startswith(name):
            return
        press(page, "Tab")
    raise AssertionError(f"{name!r} can't be reached by Tab; the focus is on {focused(page)!r}")


def test_a_plan_of_forty_steps_is_reviewed_without_a_mouse(page_of: PageOf, harness: Harness) -> None:
    steps = forty_steps()
    workflow_id = harness.plan("Forty pieces", steps, project="keyboard")
    page = page_of()
    page.goto(f"/workflows/{workflow_id}")
    panel = page.locator("#panel")

    # Every step once, in an order that follows the dependencies.
    read: list[str] = []
    for _ in range(STEPS):
        before = page.url
        press(page, "]")
        expect(page).not_to_have_url(before)
        read.append(page.url.rpartition("step=")[2])
        expect(panel.locator(".panel-id")).to_contain_text(read[-1])
    assert sorted(read) == sorted(str(step["id"]) for step in steps)

    # A note on the last one, sent by keys; then the plan goes back.
    press(page, "n")
    page.keyboard.type("Say how this is undone.")
    press(page, "Control+Enter")
    expect(panel.locator(".msg-body", has_text="Say how this is undone.")).to_be_visible()
    press(page, "Escape", "r")
    expect(page.get_by_role("button", name="Send back with 1 note")).to_be_focused()
    press(page, "Enter")
    expect(page.locator("main")).to_contain_text("Sent back by owner")
    draft = harness.get(f"/workflows/{workflow_id}")
    assert draft["review"]["state"] == "sent_back"

    # The next revision: what changed is one key away, and so is the decision; no key decides by itself.
    steps[-1] = steps[-1] | {"goal": "Do piece 5 of part 8, and say how it is undone"}
    harness.put(f"/workflows/{workflow_id}", {"title": "Forty pieces", "steps": steps})
    page.reload()
    press(page, "3")
    expect(page).to_have_url(re.compile("/changes$"))
    expect(page.locator("main")).to_contain_text("and say how it is undone")
    press(page, "a")
    expect(page.get_by_role("button", name="Approve revision 2")).to_be_focused()
    assert harness.get(f"/workflows/{workflow_id}")["status"] == "draft"
    press(page, "Enter")
    expect(page.locator(".facts")).to_contain_text("Approved, version 1")
    assert harness.get(f"/workflows/{workflow_id}")["status"] == "approved"


def test_the_keys_are_listed_and_the_list_is_left_again(page_of: PageOf) -> None:
    page = page_of()
    page.goto("/keys")
    press(page, "?")
    listed = page.get_by_role("dialog", name="Keys")
    expect(listed).to_be_visible()
    press(page, "Escape")
    expect(listed).to_be_hidden()
    press(page, "g")
    press(page, "w")
    expect(page).to_have_url(re.compile("/workflows$"))


def test_a_key_typed_into_a_field_is_only_text(page_of: PageOf, harness: Harness) -> None:
    workflow_id = harness.plan("Only text", [task("one")])
    page = page_of()
    page.goto(f"/workflows/{workflow_id}")
    press(page, "n")
    page.keyboard.type("approve? no: ar 123 ]]")
    expect(page.get_by_label("Note on the plan")).to_have_value("approve? no: ar 123 ]]")
    assert harness.get(f"/workflows/{workflow_id}")["status"] == "draft"


def test_a_step_named_like_a_key_is_not_meant_by_it(
    page_of: PageOf, harness: Harness, person: Harness
) -> None:
    workflow_id = harness.plan("Named like keys", [task("a"), task("r", depends_on=["a"])])
    person.post(f"/workflows/{workflow_id}/approve", {})
    run_id = harness.run(workflow_id)
    page = page_of()
    for tab in ("table", "timeline"):
        page.goto(f"/runs/{run_id}/{tab}")
        expect(page.get_by_role("main").get_by_role("link", name="a", exact=True).first).to_be_visible()
        for key in ("a", "r"):
            press(page, key)
            expect(page.locator(".is-armed")).to_have_count(0)


def test_the_first_tab_stop_skips_to_the_content(page_of: PageOf, harness: Harness) -> None:
    workflow_id = harness.plan("Skip", [task("one"), parallel("many", ["two"]), task("two")])
    page = page_of()
    page.goto(f"/workflows/{workflow_id}")
    press(page, "Tab")
    assert focused(page) == "Skip to content"
    press(page, "Enter")
    tab_to(page, "Approve revision 1")


# What has the focus, and whether that can be seen: by its outline, or by the border of the box it draws.
FOCUS = """() => {
    const here = document.activeElement;
    if (!here || here === document.body) return null;
    const outlined = (each) => {
        const style = getComputedStyle(each);
        if (each.matches(".g-box, .g-con")) return parseFloat(style.strokeWidth) >= 3;
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    };
    return [here.outerHTML.slice(0, 160), [here, ...here.querySelectorAll("*")].some(outlined)];
}"""


@pytest.mark.parametrize(
    "name",
    ["needs-you", "workflows", "workflow", "run", "run-timeline", "amendment", "workflow-edit", "tokens"],
)
def test_the_focus_is_seen_wherever_tab_leads(name: str, places: Places, reading: PageOf) -> None:
    page = reading()
    page.goto(places.path(name))
    stops = []
    while len(stops) < 45:
        press(page, "Tab")
        where = page.evaluate(FOCUS)
        if where is None:
            break
        stops.append(where)
    assert len(stops) > 10  # the frame alone has more
    assert [html for html, seen in stops if not seen] == []
