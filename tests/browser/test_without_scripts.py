"""With scripts blocked, everything can be read and decided: links, forms, and nothing else."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageOf
from tests.browser.places import Places, names
from tests.browser.sites import Harness
from tests.browser.test_whole_story import card
from tests.plans import checkpoint, task


@pytest.fixture
def plain(page_of: PageOf) -> Page:
    """The owner's page, where no script runs."""
    return page_of(java_script_enabled=False)


def test_a_plan_is_read_noted_sent_back_and_approved(plain: Page, harness: Harness) -> None:
    title = "Lay the path"
    workflow_id = harness.plan(title, [task("edge", goal="Edge the path"), task("lay", depends_on=["edge"])])
    plain.goto("/")
    card(plain, title).get_by_role("heading").get_by_role("link").click()
    plain.locator("#graph a", has_text="Edge the path").first.click()
    panel = plain.locator("#panel")
    expect(panel.get_by_role("heading", name="Edge the path")).to_be_visible()
    panel.get_by_label("Note on this step").fill("With what?")
    panel.get_by_role("button", name="Add note").click()
    expect(plain.locator("#panel .msg-body", has_text="With what?")).to_be_visible()
    plain.get_by_role("button", name="Send back with 1 note").click()
    expect(plain.locator("main")).to_contain_text("Sent back by owner")
    steps = [task("edge", goal="Edge the path with bricks"), task("lay", depends_on=["edge"])]
    harness.put(f"/workflows/{workflow_id}", {"title": title, "steps": steps})
    plain.goto("/")
    card(plain, title).get_by_role("link", name="what changed").click()
    expect(plain.locator("ins")).to_contain_text("with bricks")
    plain.get_by_role("button", name="Approve revision 2").click()
    expect(plain.locator(".facts")).to_contain_text("Approved, version 1")


def test_each_kind_of_card_is_decided(plain: Page, harness: Harness, person: Harness) -> None:
    title = "Roof the porch"
    steps = [
        task("ask"),
        checkpoint("look", fields=[{"name": "colour", "label": "Colour"}]),
        task("fail"),
        task("rest", depends_on=["look", "ask"]),
    ]
    workflow_id = harness.plan(title, steps)
    plain.goto("/")
    card(plain, title).get_by_role("button", name="Approve revision 1").click()
    expect(plain.get_by_role("status").first).to_contain_text("Approved")
    run_id = harness.run(workflow_id)

    harness.report(run_id, "ask", "Begun.", "running")
    harness.post(f"/runs/{run_id}/questions/ask", {"text": "Tin or tiles?"})
    plain.goto("/")
    card(plain, title).get_by_label("Your answer").fill("Tiles.")
    card(plain, title).get_by_role("button", name="Answer").click()
    expect(plain.get_by_role("status").first).to_contain_text("Answered")

    harness.report(run_id, "look", "Three colours to choose from.", "running")
    plain.goto("/")
    card(plain, title).get_by_label("Colour").fill("red")
    card(plain, title).get_by_role("button", name=re.compile("^Approve")).click()
    expect(plain.get_by_role("status").first).to_contain_text("Checkpoint approved")

    harness.post(
        f"/runs/{run_id}/amendments",
        {
            "proposed_by": "codex",
            "kind": "forward",
            "reason": "Nothing is left of it.",
            "operations": [{"op": "remove_step", "target_step_id": "rest"}],
        },
    )
    plain.goto("/")
    card(plain, title).get_by_role("button", name="Approve amendment").click()
    expect(plain.get_by_role("status").first).to_contain_text("Amendment approved")

    harness.report(run_id, "fail", "The ladder broke.", "failed")
    plain.goto("/")
    card(plain, title).get_by_role("button", name="Leave it failed").click()
    expect(plain.get_by_role("status").first).to_contain_text("failed")
    states = harness.get(f"/runs/{run_id}")["step_states"]
    assert states["ask"]["questions"][0]["response"] == {"text": "Tiles."}
    assert states["look"]["checkpoint"]["response"] == {"colour": "red"}
    assert states["rest"]["skip_cause"] == "removed"


@pytest.mark.parametrize("name", [name for name in names() if ":" not in name])
def test_every_page_can_be_read(name: str, places: Places, reading: PageOf) -> None:
    page = reading(java_script_enabled=False)
    answer = page.goto(places.path(name))
    assert answer is not None
    assert answer.ok
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
