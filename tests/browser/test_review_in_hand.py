"""What a reviewer's hands do to a plan's pages: half-written notes, narrow screens, wide drawings, other scripts."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.browsers import press
from tests.browser.conftest import PageOf
from tests.browser.sites import Harness, Site
from tests.plans import loop, parallel, task


def a_plan(harness: Harness, title: str, **more: str) -> str:
    return harness.plan(title, [task("dig"), task("plant", depends_on=["dig"])], **more)


def decided(harness: Harness, workflow_id: str) -> str:
    """How the plan stands: its status, and whether it was sent back."""
    workflow = harness.get(f"/workflows/{workflow_id}")
    return workflow["review"]["state"] if workflow["review"] else workflow["status"]


def test_a_note_that_was_never_added_holds_a_decision_up_once(page_of: PageOf, harness: Harness) -> None:
    workflow_id = a_plan(harness, "With half a note")
    page = page_of()
    page.goto(f"/workflows/{workflow_id}?step=dig")
    page.get_by_label("Note on this step").fill("Too deep.")
    page.get_by_role("link", name="Next step").click()
    expect(page.get_by_role("heading", name=task("plant")["goal"])).to_be_visible()
    page.get_by_text("Add a reason").click()
    page.locator("#reason").fill("See the note.")
    page.get_by_role("button", name="Send back").click()
    warning = page.get_by_role("alert").filter(has_text="A note was typed and not added")
    expect(warning.get_by_role("link")).to_have_text(["dig"])
    assert decided(harness, workflow_id) == "waiting"

    warning.get_by_role("link").click()
    expect(page.get_by_label("Note on this step")).to_have_value("Too deep.")
    expect(page.locator("#reason")).to_have_value("See the note.")
    page.get_by_role("button", name="Add note").click()
    expect(page.locator(".msg-body", has_text="Too deep.")).to_be_visible()
    page.get_by_role("link", name="Next step").click()
    page.get_by_role("link", name="Previous step").click()
    expect(page.locator(".msg-body", has_text="Too deep.")).to_be_visible()
    expect(page.get_by_label("Note on this step")).to_have_value("")  # what was sent is not kept
    page.get_by_role("button", name="Send back with 1 note").click()
    expect(page.get_by_text("Sent back, revision 1")).to_be_visible()
    assert decided(harness, workflow_id) == "sent_back"


def test_whoever_wants_it_so_decides_without_the_note(page_of: PageOf, harness: Harness) -> None:
    workflow_id = a_plan(harness, "Without the note after all")
    page = page_of()
    page.goto(f"/workflows/{workflow_id}")
    page.get_by_label("Note on the plan").fill("Never mind.")
    press(page, "Escape")
    press(page, "a")
    press(page, "Enter")
    expect(page.get_by_role("alert").get_by_role("link")).to_have_text(["the whole plan"])
    assert decided(harness, workflow_id) == "waiting"
    press(page, "Enter")
    expect(page.get_by_text("Approved, version 1")).to_be_visible()


def test_on_a_phone_any_two_revisions_are_chosen_and_compared(page_of: PageOf, harness: Harness) -> None:
    workflow_id = a_plan(harness, "Three revisions")
    for goal in ("Dig twice", "Dig three times"):
        steps = [task("dig", goal=goal), task("plant", depends_on=["dig"])]
        harness.put(f"/workflows/{workflow_id}", {"title": "Three revisions", "steps": steps})
    page = page_of(width=360)
    page.goto(f"/workflows/{workflow_id}/history")
    page.get_by_label("from r1").check()
    page.get_by_label("to r2").check()
    page.get_by_role("button", name="Compare the two").click()
    expect(page.locator("ins", has_text="twice")).to_be_visible()
    expect(page.get_by_text("three times")).to_have_count(0)


def test_the_projects_counts_follow_the_decisions(page_of: PageOf, site: Site, harness: Harness) -> None:
    first = a_plan(harness, "First of the orchard", project="orchard")
    a_plan(harness, "Second of the orchard", project="orchard")
    a_plan(harness, "Of the yard", project="yard")
    page = page_of()
    page.goto("/")
    chip = page.get_by_role("navigation", name="Projects").get_by_role("link", name="orchard")
    expect(chip).to_have_text("orchard 2")
    whole = page.get_by_role("link", name="All projects").locator("b")
    before = int(whole.inner_text())
    site.person("reviewer").post(f"/workflows/{first}/approve", {})
    expect(chip).to_have_text("orchard 1")
    expect(whole).to_have_text(str(before - 1))


def first_sign_stands_right_of_the_last(page: Page, selector: str) -> bool:
    return bool(
        page.locator(selector).first.evaluate("""element => {
            const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
            const at = n => { const range = document.createRange(); range.setStart(text, n); range.setEnd(text, n + 1);
                return range.getBoundingClientRect().left; };
            return at(0) > at(text.length - 1);
        }""")
    )


def test_a_text_that_is_written_from_the_right_ends_at_the_left(page_of: PageOf, harness: Harness) -> None:
    goal = "اقرأ الوثيقة!"  # the mark at its end has no direction of its own
    workflow_id = harness.plan(goal, [task("read", goal=goal)])
    page = page_of()
    page.goto(f"/workflows/{workflow_id}?step=read")
    page.get_by_label("Note on this step").fill(goal)
    page.get_by_role("button", name="Add note").click()
    expect(page.locator(".msg-body")).to_be_visible()
    for selector in ("h1", "#panel h2", ".msg-body"):
        assert first_sign_stands_right_of_the_last(page, selector), selector


def test_a_construct_wider_than_the_canvas_is_shown_by_its_head(page_of: PageOf, harness: Harness) -> None:
    """Its title stands at its left; nested return edges make it wide."""
    steps = [task("leaf")]
    inner = "leaf"
    for n in range(6):
        steps += [
            task(f"wrap{n}", depends_on=[inner]),
            loop(f"round{n}", [inner, f"wrap{n}"], exit_when="nothing is left"),
            parallel(f"fan{n}", [f"round{n}"]),
        ]
        inner = f"fan{n}"
    workflow_id = harness.plan("Rounds within rounds", steps)
    page = page_of()
    page.goto(f"/workflows/{workflow_id}")
    outermost = page.locator(f"svg.graph a[data-id={inner}]")
    canvas = page.locator(".canvas-scroll")
    box, frame = outermost.bounding_box(), canvas.bounding_box()
    assert box is not None
    assert frame is not None
    assert box["width"] > frame["width"]
    assert frame["x"] <= box["x"] < frame["x"] + 60


def test_the_tools_stand_where_they_stay_before_any_script_has_come(
    page_of: PageOf, harness: Harness, allow: Callable[[Page, str], None]
) -> None:
    workflow_id = a_plan(harness, "Nothing jumps")
    page = page_of()
    page.goto(f"/workflows/{workflow_id}")
    find = page.get_by_placeholder("Find a step")
    expect(page.get_by_role("button", name="Zoom in")).to_be_visible()
    there = find.bounding_box()
    allow(page, r"graph[^/]*\.js")
    page.route("**/graph*.js", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("button", name="Zoom in")).to_be_hidden()
    assert find.bounding_box() == there
