"""From a plan to a finished run once more, and the person never touches the mouse."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.browsers import press
from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.plans import checkpoint, task

TITLE = "Hang a bell at the gate"


def plan(bell: str = "Buy a bell") -> list[dict[str, object]]:
    fields = [{"name": "height", "label": "Height in cm"}]
    return [
        task("buy", goal=bell),
        checkpoint("place", goal="Agree on how high it hangs", depends_on=["buy"], fields=fields),
        task("hang", goal="Hang it", depends_on=["place"]),
    ]


def light_card(page: Page) -> None:
    """To what needs a person, and down the list to the card about ``TITLE``."""
    with page.expect_navigation():  # also from the list itself, which still shows what was decided before
        press(page, "g", "n")
    card = page.locator("#queue article", has_text=TITLE)
    expect(card).to_have_count(1)
    for _ in range(page.locator("#queue > li").count()):
        press(page, "j")
        if card.evaluate("each => each.contains(document.activeElement)"):
            return
    raise AssertionError("the card is not reached by j")


def armed(page: Page) -> Locator:
    """The button that the next Enter presses."""
    return page.locator(".is-armed:focus")


def tab_into(page: Page, label: str) -> None:
    """Tab until the field called ``label`` has the focus."""
    field = page.locator("#queue article", has_text=TITLE).get_by_label(label)
    for _ in range(12):
        if field.evaluate("each => each === document.activeElement"):
            return
        press(page, "Tab")
    raise AssertionError(f"{label!r} is not reached by Tab")


def test_from_a_plan_to_a_finished_run_by_keys(page_of: PageOf, harness: Harness) -> None:
    other = harness.plan("An older plan, first in the list", [task("wait")], project="gate")
    workflow_id = harness.plan(TITLE, plan(), project="gate")
    page = page_of()
    page.goto("/workflows")

    # Its card opens the plan; a note on the first step, and the plan goes back.
    light_card(page)
    press(page, "Enter")
    expect(page).to_have_url(re.compile(f"/workflows/{workflow_id}"))
    press(page, "]")
    panel = page.locator("#panel")
    expect(panel.locator(".panel-id")).to_contain_text("buy")
    press(page, "n")
    page.keyboard.type("A loud one.")
    press(page, "Control+Enter")
    expect(panel.locator(".msg-body", has_text="A loud one.")).to_be_visible()
    press(page, "Escape", "r")
    expect(armed(page)).to_contain_text("Send back")
    press(page, "Enter")
    expect(page.locator("main")).to_contain_text("Sent back by owner")

    # The next revision is approved on its card.
    harness.put(f"/workflows/{workflow_id}", {"title": TITLE, "steps": plan("Buy a loud bell")})
    light_card(page)
    press(page, "a")
    expect(armed(page)).to_contain_text("Approve revision 2")
    assert harness.get(f"/workflows/{workflow_id}")["status"] == "draft"  # one key alone never decides
    press(page, "Enter")
    expect(page.locator("#queue")).to_contain_text("Approved by you")
    assert harness.get(f"/workflows/{workflow_id}")["status"] == "approved"

    # A question is answered.
    run_id = harness.run(workflow_id)
    harness.report(run_id, "buy", "In the shop.", "running")
    harness.post(f"/runs/{run_id}/questions/buy", {"text": "Brass or iron?"})
    light_card(page)
    tab_into(page, "Your answer")
    page.keyboard.type("Brass.")
    press(page, "Control+Enter")
    expect(page.locator("#queue")).to_contain_text("Answered by you")
    (question,) = harness.get(f"/runs/{run_id}")["step_states"]["buy"]["questions"]
    assert (question["response"], question["answered_by"]) == ({"text": "Brass."}, "owner")

    # A checkpoint is filled in and approved.
    harness.report(run_id, "buy", "A brass one.", "completed")
    harness.report(run_id, "place", "Where?", "running")
    light_card(page)
    tab_into(page, "Height in cm")
    page.keyboard.type("170")
    press(page, "Escape", "a")
    expect(armed(page)).to_contain_text("Approve")
    press(page, "Enter")
    expect(page.locator("#queue")).to_contain_text("Approved by you")
    decided = harness.get(f"/runs/{run_id}")["step_states"]["place"]["checkpoint"]
    assert (decided["decision"], decided["response"]) == ("approved", {"height": "170"})

    # An amendment is opened, read and approved.
    drill = task("drill", goal="Drill two holes", depends_on=["place"])
    change = {"op": "insert_before", "target_step_id": "hang", "step": drill}
    harness.post(
        f"/runs/{run_id}/amendments",
        {"proposed_by": "codex", "kind": "forward", "reason": "The post is oak.", "operations": [change]},
    )
    light_card(page)
    press(page, "Enter")
    expect(page).to_have_url(re.compile("/amendments/"))
    expect(page.locator("main")).to_contain_text("Drill two holes")
    press(page, "a")
    expect(armed(page)).to_contain_text("Approve amendment")
    press(page, "Enter")
    expect(page.locator(".facts")).to_contain_text("Amendment approved")

    # The rest runs, and the run is found finished from the list of workflows.
    harness.report(run_id, "drill", "Drilled.", "completed")
    harness.report(run_id, "hang", "It rings.", "completed")
    press(page, "g", "w")
    expect(page.get_by_role("row", name=TITLE)).to_contain_text("Completed")

    # And no key ever meant the card above.
    assert harness.get(f"/workflows/{other}")["status"] == "draft"
