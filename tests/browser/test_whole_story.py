"""From a plan to a finished run: a harness works through REST, a person decides by clicks."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.plans import checkpoint, task

TITLE = "Build a shed behind the house"


def plan(measure: str = "Measure the ground") -> list[dict[str, object]]:
    return [
        task("measure", goal=measure, criteria=["Length and width are written down"]),
        checkpoint(
            "agree",
            goal="Agree on the wood",
            depends_on=["measure"],
            fields=[
                {"name": "wood", "label": "Kind of wood", "hint": "Such as larch"},
                {"name": "remark", "label": "Remark", "required": False},
            ],
        ),
        task("build", goal="Build the frame and the roof", depends_on=["agree"]),
    ]


def card(page: Page, title: str = TITLE) -> Locator:
    """What waits for a person about ``title``."""
    return page.locator("#queue article").filter(has=page.get_by_role("heading", name=title))


def test_from_a_plan_to_a_finished_run_by_clicks(page_of: PageOf, harness: Harness) -> None:
    workflow_id = harness.plan(TITLE, plan(), project="shed")
    page = page_of()

    # The plan is read and goes back with a note on one step.
    page.goto("/")
    expect(card(page)).to_contain_text("3 steps")
    card(page).get_by_role("heading").get_by_role("link").click()
    page.locator("#graph a", has_text="Measure the ground").first.click()
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", name="Measure the ground")).to_be_visible()
    panel.get_by_label("Note on this step").fill("And the slope, please.")
    panel.get_by_role("button", name="Add note").click()
    expect(panel.locator(".msg-body", has_text="And the slope")).to_be_visible()
    page.get_by_role("button", name="Send back with 1 note").click()
    expect(page.locator("main")).to_contain_text("Sent back by owner")
    told = harness.get(f"/workflows/{workflow_id}")
    assert told["review"]["state"] == "sent_back"
    assert [note["body"] for note in told["review_notes"]] == ["And the slope, please."]

    # The next revision says what changed, beside the note that asked for it, and is approved.
    steps = plan("Measure the ground and its slope")
    harness.put(f"/workflows/{workflow_id}", {"title": TITLE, "steps": steps, "reason": "The slope too."})
    page.goto("/")
    expect(card(page)).to_contain_text("Since you last looked")
    card(page).get_by_role("link", name="what changed").click()
    expect(page.locator("ins")).to_contain_text("and its slope")
    expect(page.locator("main")).to_contain_text("And the slope, please.")
    page.get_by_role("button", name="Approve revision 2").click()
    expect(page.locator(".facts")).to_contain_text("Approved, version 1")

    # A question is answered on its card.
    run_id = harness.run(workflow_id, by="bus")
    harness.report(run_id, "measure", "On my way.", "running")
    harness.post(f"/runs/{run_id}/questions/measure", {"text": "Is the pear tree in the way?"})
    page.goto("/")
    asked = card(page)
    expect(asked).to_contain_text("Is the pear tree in the way?")
    asked.get_by_label("Your answer").fill("It may stay. Build around it.")
    asked.get_by_role("button", name="Answer").click()
    expect(page.locator("#queue")).to_contain_text("Answered by you")
    (question,) = harness.get(f"/runs/{run_id}")["step_states"]["measure"]["questions"]
    assert question["response"] == {"text": "It may stay. Build around it."}

    # A checkpoint wants its field, and keeps what was typed when that is missing.
    met = {"c1": "4.20 m by 3.10 m."}
    harness.report(run_id, "measure", "4.20 m by 3.10 m, 4 cm of slope.", "completed", criteria_met=met)
    harness.report(run_id, "agree", "Larch or spruce.", "running")
    page.goto("/")
    expect(card(page)).to_contain_text("Agree on the wood")
    card(page).get_by_label("Kind of wood").fill("larch")
    card(page).get_by_role("button", name="Approve").click()
    expect(page.locator("#queue")).to_contain_text("Approved by you")
    decided = harness.get(f"/runs/{run_id}")["step_states"]["agree"]["checkpoint"]
    assert (decided["decision"], decided["response"]) == ("approved", {"wood": "larch"})

    # An amendment is read in its picture and approved with a reason.
    roots = task("roots", goal="Dig out the roots of the pear tree", depends_on=["agree"])
    harness.post(
        f"/runs/{run_id}/amendments",
        {
            "proposed_by": "claude-code",
            "kind": "forward",
            "reason": "The roots lift the floor.",
            "operations": [{"op": "insert_before", "target_step_id": "build", "step": roots}],
        },
    )
    page.goto("/")
    card(page).get_by_role("heading").get_by_role("link").click()
    expect(page.get_by_role("heading", name="What would change")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Dig out the roots of the pear tree")
    page.get_by_label("Reason").fill("Mind the pipes.")
    page.get_by_role("button", name="Approve amendment").click()
    expect(page.locator(".facts")).to_contain_text("Amendment approved")

    # The rest runs, and the run's page says so.
    harness.report(run_id, "roots", "Out.", "completed")
    harness.report(run_id, "build", "It stands.", "completed")
    page.goto(f"/runs/{run_id}")
    expect(page.locator(".facts")).to_contain_text("Completed")
    expect(page.locator("main")).to_contain_text("1 amendment")
    page.goto("/")
    expect(card(page)).to_have_count(0)
