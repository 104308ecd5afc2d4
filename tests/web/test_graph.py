"""What the drawings say: links, states, lanes, loops, ghosts, and nothing of a hostile text but its letters."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.utils import translation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chief_project.shared.text.states import look
from chief_project.web.graph import Drawing, draw_amendment, draw_plan, draw_run, scene
from chief_project.web.graph.layout import answers
from chief_project.web.graph.text import fitting
from tests.web.test_graph_folding import plans
from workflows.domain.plan import InstanceParam, Plan, Step


class Tree(HTMLParser):
    """An SVG as a list of ``(tag, attributes, text)``; void by ``/>`` only."""

    def __init__(self, svg: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open: list[int] = []
        self.feed(svg)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(len(self.found))
        self.found.append((tag, dict(attrs), []))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for place in self.open:
            self.found[place][2].append(data)

    def boxes(self) -> dict[str, dict[str, str | None]]:
        return {str(a["data-id"]): a for tag, a, _ in self.found if tag == "a" and "data-id" in a}

    def edges(self) -> set[tuple[str | None, str | None]]:
        return {(a["data-from"], a["data-to"]) for _, a, _ in self.found if "data-from" in a}

    def lit(self) -> set[tuple[str | None, str | None]]:
        """The ends of the edges that are lit."""
        found, at = set(), (None, None)
        for _, a, _ in self.found:
            if "data-to" in a:
                at = (a.get("data-from"), a["data-to"])  # type: ignore[assignment]
            elif "g-edge--lit" in (a.get("class") or "") and at[0]:
                found.add(at)
        return found

    def text(self, box: str) -> str:
        return next(" ".join(text) for _, a, text in self.found if a.get("data-id") == box)

    def all_text(self) -> str:
        return " ".join(self.found[0][2])


def task(step_id: str, goal: str = "", *waits: str, **more: Any) -> Step:
    return Step(step_id, more.pop("type", "task"), goal or f"Do {step_id}", depends_on=waits, **more)


def plan(*steps: Step) -> Plan:
    return Plan(steps)


def state(step_id: str, status: str = "pending", **more: Any) -> dict[str, Any]:
    return {
        "step_id": step_id, "status": status, "metadata": {}, "instances": None, "stale": None, "skip_cause": None,
        "failures": 0,
    } | more  # fmt: skip


def instance(
    index: int, status: str, *states: dict[str, Any], kind: str = "branch", **more: Any
) -> dict[str, Any]:
    return {
        "instance_id": f"inst_{index:02}", "kind": kind, "index": index, "status": status, "metadata": {},
        "step_states": {each["step_id"]: each for each in states}, "body": [each["step_id"] for each in states],
        "stale": None, "failures": 0,
    } | more  # fmt: skip


def run_of(*states: dict[str, Any]) -> dict[str, Any]:
    return {"step_states": {each["step_id"]: each for each in states}}


def drawn(of: Plan, key: object = None, **more: Any) -> tuple[Drawing, Tree]:
    drawing = draw_plan(
        of,
        key=key if key is not None else object(),
        href=more.pop("href", lambda step_id: f"?step={step_id}"),
        open_href=lambda fold: f"?open={fold}",
        **more,
    )
    assert drawing.svg is not None
    return drawing, Tree(drawing.svg)


def drawn_run(of: Plan, run: dict[str, Any], **more: Any) -> tuple[Drawing, Tree]:
    drawing = draw_run(
        of,
        run,
        **{
            "key": object(),
            "href": lambda path: f"?step={path}",
            "open_href": lambda fold: f"?open={fold}",
            "yours": True,
        }
        | more,
    )
    assert drawing.svg is not None
    return drawing, Tree(drawing.svg)


PAPERS = plan(
    task("search"),
    task(
        "read",
        "Read each paper",
        "search",
        type="parallel",
        body=("sum", "check"),
        instance_params=(InstanceParam("paper"),),
    ),
    task("sum", "Summarise {{ paper }} as {{ other }}"),
    task("check", "Check {{paper}}", "sum"),
    task("write", "", "read"),
)


def papers(count: int, **statuses: str) -> dict[str, Any]:
    branches = [
        instance(
            number,
            statuses.get(f"b{number}", "completed"),
            state("sum", "completed"),
            state("check", statuses.get(f"b{number}", "completed")),
            metadata={"paper": f"p{number}"},
        )
        for number in range(count)
    ]
    return run_of(state("search", "completed"), state("read", "running", instances=branches), state("write"))


# -- A plan ------------------------------------------------------------------------------------------


def test_every_step_is_a_link_with_a_name_and_every_dependency_an_edge() -> None:
    drawing, tree = drawn(plan(task("a", "Begin"), task("b", "Go on", "a"), task("c", "End", "b", "a")))
    assert {box: a["href"] for box, a in tree.boxes().items()} == {each: f"?step={each}" for each in "abc"}
    assert tree.boxes()["a"]["aria-label"] == "a: Begin"
    assert tree.edges() == {("a", "b"), ("b", "c"), ("a", "c")}
    assert (drawing.boxes, drawing.folded, drawing.note) == (3, 0, None)


def test_dependencies_that_others_imply_are_left_out_of_larger_plans_and_that_is_said() -> None:
    chain = [task("s0"), *(task(f"s{n}", "", f"s{n - 1}") for n in range(1, 14))]
    drawing, tree = drawn(plan(*chain, task("end", "", "s0", "s13")))
    assert ("s13", "end") in tree.edges()
    assert ("s0", "end") not in tree.edges()
    assert "imply" in str(drawing.note)


def test_the_order_is_topological_and_so_is_the_focus() -> None:
    drawing, tree = drawn(plan(task("d", "", "b", "c"), task("c", "", "a"), task("b", "", "a"), task("a")))
    assert drawing.order[0] == "a"
    assert drawing.order[-1] == "d"
    assert tuple(tree.boxes()) == drawing.order


def test_constructs_hold_their_bodies_however_deep() -> None:
    nested = plan(
        task("outer", "", type="loop", body=("inner",), exit_when="all is well"),
        task("inner", "", type="parallel", body=("leaf",)),
        task("leaf"),
    )
    drawing, tree = drawn(nested)
    assert drawing.order == ("outer", "inner", "leaf")
    assert tree.boxes()["leaf"]["data-in"] == "inner"
    assert tree.boxes()["inner"]["data-in"] == "outer"


def test_a_loop_has_an_edge_back_that_says_until_when() -> None:
    _, tree = drawn(
        plan(
            task("again", "", type="loop", body=("x", "y"), exit_when="nothing new"),
            task("x"),
            task("y", "", "x"),
        )
    )
    backs = [a for _, a, _ in tree.found if "data-again" in a]
    assert [(a["data-again"], a["data-to"], a["data-in"]) for a in backs] == [("y", "x", "again")]
    assert re.search(r"again until\s+nothing\s+new", tree.all_text())


def test_groups_are_named_outlines() -> None:
    _, tree = drawn(plan(task("a", group="prep/data"), task("b", "", "a", group="prep"), task("c", "", "b")))
    names = [text[0] for _, a, text in tree.found if a.get("class") == "g-group-label"]
    assert names == ["prep", "data"]


def test_a_group_is_not_outlined_again_within_its_construct() -> None:
    _, tree = drawn(plan(task("l", "", type="loop", body=("a",), group="g"), task("a", group="g")))
    assert sum(a.get("class") == "g-group" for _, a, _ in tree.found) == 1


def test_notes_and_marks_stand_on_their_box() -> None:
    _, tree = drawn(plan(task("a"), task("b")), notes={"a": 2}, marks={"b": "reworded"})
    assert "2 open notes" in tree.text("a")
    assert "reworded" in tree.text("b")
    assert tree.boxes()["b"]["aria-label"] == "b: Do b, reworded"


def test_the_selected_step_lights_what_comes_before_and_after_and_nothing_else() -> None:
    steps = plan(task("a"), task("b", "", "a"), task("c", "", "b"), task("x", "", "a"), task("y", "", "x"))
    _, tree = drawn(steps, selected="b")
    assert tree.lit() == {("a", "b"), ("b", "c")}
    assert "is-selected" in str(tree.boxes()["b"]["class"])
    assert [box for box, a in tree.boxes().items() if a.get("aria-current")] == ["b"]


def test_a_selected_body_step_lights_around_its_construct_too() -> None:
    _, tree = drawn(PAPERS, selected="check")
    assert tree.lit() == {("sum", "check"), ("search", "read"), ("read", "write")}


def test_a_fold_is_selected_for_each_of_its_steps() -> None:
    many = plan(task("start"), *(task(f"s{n}", f"Sort {n}", "start") for n in range(30)))
    drawing, tree = drawn(many, selected="s7")
    assert (drawing.boxes, drawing.folded) == (2, 30)
    (fold,) = [a for box, a in tree.boxes().items() if box != "start"]
    assert "is-selected" in str(fold["class"])
    assert fold["href"] == f"?open={fold['data-id']}"
    assert "30 steps" in str(fold["aria-label"])
    assert "s7" in str(fold["data-has"]).split()
    assert drawing.note is not None
    assert "30 steps are folded" in drawing.note


def test_an_opened_fold_shows_its_steps_and_says_that_it_is_open() -> None:
    many = plan(task("start"), *(task(f"s{n}", f"Sort {n}", "start") for n in range(30)))
    drawing, tree = drawn(many, opened=frozenset({"s0+30", "no-such"}))
    assert len(tree.boxes()) == 31
    assert [fold for fold, _ in drawing.unfolded] == ["s0+30"]
    assert drawing.note is None


def test_the_boxes_of_an_opened_fold_of_very_many_can_be_told_apart() -> None:
    many = plan(task("start"), *(task(f"s{n}", f"Sort {n}", "start") for n in range(900)))
    drawing, _ = drawn(many)
    (fold,) = re.findall(r"\?open=([^\"]+)", str(drawing.svg))
    _, tree = drawn(many, opened=frozenset({fold}))
    labels = [str(a["aria-label"]) for box, a in tree.boxes().items() if box != "start"]
    assert 10 < len(labels) <= 60
    assert len(set(labels)) == len(labels)


def test_redrawing_asks_for_no_second_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    answers.clear()
    steps = plan(task("a"), task("b", "", "a"), task("c", "", "a"))
    drawn(steps, key="one")

    def never(*given: object, **more: object) -> str:
        raise AssertionError("asked again")

    monkeypatch.setattr("chief_project.web.graph.layout.run_engine", never)
    drawn(steps, key="one", selected="b")
    drawn_run(steps, run_of(state("a", "completed")))


def test_beyond_the_time_limit_there_is_no_picture_and_the_page_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers.clear()
    monkeypatch.setattr(scene, "LIMIT", 0.0)
    monkeypatch.setattr(
        "chief_project.web.graph.layout._ask",
        lambda graphs, until, engine: [answers.put(g, None) for g in graphs],
    )
    drawing = draw_plan(
        plan(task("a"), task("b", "", "a"), task("c", "", "a")), key=object(), href=str, open_href=str
    )
    assert drawing.svg is None
    assert drawing.note is not None
    answers.clear()


def test_words_are_in_the_readers_language_though_places_are_kept() -> None:
    steps, run = plan(task("a")), run_of(state("a", "running"))
    assert "Running" in drawn_run(steps, run)[1].text("a")
    with translation.override("de"):
        assert str(look("running").word) in drawn_run(steps, run)[1].text("a")


def test_who_may_not_decide_is_not_told_that_it_waits_for_them() -> None:
    _, tree = drawn_run(plan(task("a")), run_of(state("a", "blocked")), yours=False)
    assert "Waiting for a person" in tree.text("a")


# -- A run -------------------------------------------------------------------------------------------


def test_each_state_is_an_icon_a_word_and_a_class() -> None:
    statuses = ("pending", "running", "completed", "failed", "skipped", "blocked")
    steps = plan(*(task(each) for each in statuses))
    _, tree = drawn_run(steps, run_of(*(state(each, each) for each in statuses)))
    for status, name in zip(
        statuses, ("pending", "running", "completed", "failed", "skipped", "waiting"), strict=True
    ):
        assert f"s-{name}" in str(tree.boxes()[status]["class"])
    assert "Waiting for you" in str(tree.boxes()["blocked"]["aria-label"])
    icons = {a["href"] for tag, a, _ in tree.found if tag == "use"}
    assert {"#i-pending", "#i-running", "#i-completed", "#i-failed", "#i-skipped", "#i-waiting"} <= icons


def test_a_stale_step_is_hatched_and_says_so() -> None:
    _, tree = drawn_run(plan(task("a")), run_of(state("a", "completed", stale={"reason": "x"})))
    assert "s-stale" in str(tree.boxes()["a"]["class"])
    assert "Stale" in tree.text("a")
    assert any(a.get("fill") == "url(#hatch-stale)" for _, a, _ in tree.found)


def test_a_stale_branch_or_iteration_says_so_and_keeps_its_boxes_under_the_filter() -> None:
    mark = {"reason": "x"}
    branches = [instance(n, "running", state("b", "running"), stale=mark if n else None) for n in range(2)]
    of = plan(task("a", type="parallel", body=("b",)), task("b"))
    _, tree = drawn_run(of, run_of(state("a", "running", instances=branches)))
    heads = {name: tree.boxes()[f"a/{name}"] for name in ("inst_00", "inst_01")}
    assert "s-running" in str(heads["inst_00"]["class"])
    assert "s-stale" in str(heads["inst_01"]["class"])
    assert str(heads["inst_01"]["aria-label"]).endswith("Stale")
    assert sum(a.get("class") == "g-stale" for _, a, _ in tree.found) == 2, "its ground, and its boxes"

    rounds = [instance(n, "completed", state("b", "completed"), kind="iteration") for n in range(2)]
    rounds[0]["stale"] = mark
    of = plan(task("a", type="loop", body=("b",)), task("b"))
    _, tree = drawn_run(of, run_of(state("a", "running", instances=rounds)))
    assert tree.boxes()["a/inst_00"]["aria-label"] == "1, Stale"
    assert not any(a.get("class") == "g-stale" for _, a, _ in tree.found), "the last round counts"

    many = [instance(n, "completed", state("b", "completed"), stale=None if n else mark) for n in range(9)]
    of = plan(task("a", type="parallel", body=("b",)), task("b"))
    _, tree = drawn_run(of, run_of(state("a", "running", instances=many)))
    assert "has-stale" in str(tree.boxes()["a"]["class"])


def test_a_goal_is_drawn_without_the_marks_of_code_and_strong_text() -> None:
    _, tree = drawn(plan(task("a", "Read `orders.v1` and **all** of 2 * 3 * 4, `not")))
    assert tree.boxes()["a"]["aria-label"] == "a: Read orders.v1 and all of 2 * 3 * 4, `not"


def test_up_to_eight_branches_are_lanes_named_by_their_parameters() -> None:
    drawing, tree = drawn_run(PAPERS, papers(8))
    assert "read/inst_07/check" in tree.boxes()
    assert tree.boxes()["read/inst_03"]["aria-label"] == "paper=p3\npaper=p3, Completed"
    assert tree.boxes()["read/inst_03/check"]["href"] == "?step=read/inst_03/check"
    assert drawing.boxes == 3 + 8 * 2


def test_a_goal_is_filled_with_the_branchs_own_values_only() -> None:
    _, tree = drawn_run(PAPERS, papers(2))
    assert "Summarise p1 as {{ other }}" in str(tree.boxes()["read/inst_01/sum"]["aria-label"])
    assert "Check p0" in tree.text("read/inst_00/check")


def test_a_value_that_looks_like_a_placeholder_is_not_filled_in_turn() -> None:
    run = papers(1)
    run["step_states"]["read"]["instances"][0]["metadata"] = {"paper": "{{ other }}", "other": "leak"}
    _, tree = drawn_run(PAPERS, run)
    assert "Summarise {{ other }} as {{ other }}" in str(tree.boxes()["read/inst_00/sum"]["aria-label"])


def test_beyond_eight_branches_one_box_counts_them_and_names_what_needs_eyes() -> None:
    run = papers(40, b7="failed", b9="running", b11="running")
    drawing, tree = drawn_run(PAPERS, run, table_href=lambda path, told: f"/table?{path}&{told}")
    assert drawing.boxes == 3
    named = [box for box in tree.boxes() if box.startswith("read/")]
    assert named == ["read/inst_07", "read/inst_09", "read/inst_11"]
    counts = {a["aria-label"]: a.get("href") for _, a, _ in tree.found if "g-count" in (a.get("class") or "")}
    assert counts["37 completed"] == "/table?read&completed"
    assert "1 failed" in counts
    assert "2 running" in counts


def test_the_box_of_many_keeps_its_size_whatever_happens_in_it() -> None:
    sizes = {
        (drawing.width, drawing.height)
        for drawing in (
            drawn_run(PAPERS, papers(40))[0],
            drawn_run(PAPERS, papers(40, b7="failed", b9="running"))[0],
            drawn_run(PAPERS, papers(40, **{f"b{n}": "running" for n in range(40)}))[0],
        )
    }
    assert len(sizes) == 1


def test_what_waits_in_a_branch_makes_its_construct_wait() -> None:
    run = papers(2, b1="running")
    run["step_states"]["read"]["instances"][1]["step_states"]["check"]["status"] = "blocked"
    _, tree = drawn_run(PAPERS, run)
    assert "1 waits for you" in str(tree.boxes()["read"]["aria-label"])
    assert "s-waiting" in str(tree.boxes()["read/inst_01"]["class"])


def test_a_branch_that_came_with_another_body_shows_that_one() -> None:
    run = papers(2)
    first = run["step_states"]["read"]["instances"][0]
    first["body"] = ["sum", "old"]
    first["step_states"]["old"] = state("old", "completed")
    _, tree = drawn_run(PAPERS, run)
    assert "read/inst_00/old" in tree.boxes()
    assert "read/inst_00/check" not in tree.boxes()
    assert "read/inst_01/check" in tree.boxes()


def test_a_body_without_an_instance_is_pending_and_leads_to_its_construct() -> None:
    _, tree = drawn_run(PAPERS, run_of(state("read")))
    box = tree.boxes()["read/*/sum"]
    assert box["href"] == "?step=read"
    assert "s-pending" in str(box["class"])


def test_a_loop_shows_its_newest_iteration_and_links_the_others() -> None:
    steps = plan(task("again", "", type="loop", body=("x",)), task("x"))
    turns = [
        instance(
            n,
            "completed" if n < 2 else "running",
            state("x", "completed" if n < 2 else "running"),
            kind="iteration",
        )
        for n in range(3)
    ]
    _, tree = drawn_run(steps, run_of(state("again", "running", instances=turns)))
    assert "3 iterations" in tree.all_text()
    assert "s-running" in str(tree.boxes()["again/inst_02/x"]["class"])
    assert [box for box in tree.boxes() if box.count("/") == 1] == [
        "again/inst_00",
        "again/inst_01",
        "again/inst_02",
    ]


def test_metadata_shows_without_a_click() -> None:
    _, tree = drawn_run(
        plan(task("a")), run_of(state("a", "completed", metadata={"tokens": 212480, "ocr": True}))
    )
    assert "2 facts" in tree.text("a")
    assert "tokens=212480, ocr=true" in tree.text("a")
    (shown,) = ("".join(text) for _, a, text in tree.found if a.get("class") == "g-fact")
    assert shown.startswith("to")
    assert "=212480" in shown


def test_what_a_branch_brought_besides_its_name_is_counted_on_its_lane() -> None:
    run = papers(2)
    run["step_states"]["read"]["instances"][0]["metadata"] |= {"pages": 12, "lang": "en"}
    _, tree = drawn_run(PAPERS, run)
    assert "2 facts" in tree.text("read/inst_00")
    assert "fact" not in tree.text("read/inst_01")
    long = "sliding-window-2020"
    run["step_states"]["read"]["instances"][0]["metadata"]["paper"] = long
    _, tree = drawn_run(PAPERS, run)
    assert long in tree.text("read/inst_00"), "no name is cut for the sake of a count"
    assert "facts" not in tree.text("read/inst_00")


@pytest.mark.parametrize(
    ("facts", "count", "room", "said"),
    [
        ([("rows", "12")], 1, 200, "rows=12"),
        ([("rows", "12"), ("ok", "true")], 2, 200, "rows=12, ok=true"),
        ([("rows", "12"), ("ok", "true")], 5, 200, "rows=12, ok=true +3"),
        ([("rows", "12"), ("ok", "true")], 2, 80, "rows=12 +1"),
        ([("seconds", "12")], 1, 60, "seco…=12"),
        ([("tokens", "212480"), ("ok", "true")], 2, 89, "to…=212480 +1"),
        ([("tokens", "212480"), ("ok", "true")], 2, 75, "to…=212480"),
        ([("seconds", "12")], 1, 30, ""),
        ([("a", "x" * 80)], 1, 100, ""),
        ([], 0, 100, ""),
    ],
)
def test_facts_are_said_as_far_as_they_fit_and_no_value_is_cut(
    facts: list[tuple[str, str]], count: int, room: float, said: str
) -> None:
    assert fitting(facts, count, room) == said


def test_failures_that_were_tolerated_are_told() -> None:
    _, tree = drawn_run(
        plan(task("p", "", type="parallel", body=("x",)), task("x")),
        run_of(
            state("p", "completed", failures=2, instances=[instance(0, "completed", state("x", "failed"))])
        ),
    )
    assert "Completed, 2 failed" in str(tree.boxes()["p"]["aria-label"])


def test_a_fold_runs_only_while_something_in_it_does() -> None:
    steps = plan(task("s"), *(task(f"t{n}", f"Sort {n}", "s") for n in range(12)))

    def told(**statuses: int) -> str:
        each = [status for status, count in statuses.items() for _ in range(count)]
        states = [state(f"t{n}", status) for n, status in enumerate(each)]
        _, tree = drawn_run(steps, run_of(state("s", "completed"), *states))
        (fold,) = (a for a in tree.boxes().values() if a.get("data-fold") is not None)
        return str(fold["aria-label"])

    assert "11 completed" in told(completed=11, skipped=1)
    assert "1 pending" in told(completed=11, pending=1)
    assert "2 running" in told(completed=9, running=2, skipped=1)
    assert "1 failed" in told(completed=10, running=1, failed=1)
    assert "Skipped" in told(skipped=12)
    assert "Completed" in told(completed=12)


def test_a_tolerated_failure_is_told_on_its_branch_and_in_the_counts_though_somebody_waits() -> None:
    run = papers(9, b8="running")
    run["step_states"]["read"]["instances"][8]["step_states"]["check"]["status"] = "blocked"
    for each in run["step_states"]["read"]["instances"][:2]:
        each["failures"] = 1
    run["step_states"]["read"]["failures"] = 2
    _, tree = drawn_run(PAPERS, run)
    assert "8 completed, 2 failed" in [a.get("aria-label") for _, a, _ in tree.found]
    assert tree.boxes()["read/inst_00"]["aria-label"] == "Completed, 1 failed: paper=p0"

    run["step_states"]["read"]["instances"] = run["step_states"]["read"]["instances"][:2]
    _, tree = drawn_run(PAPERS, run)
    assert "s-failed" in str(tree.boxes()["read/inst_00"]["class"])
    assert str(tree.boxes()["read/inst_00"]["aria-label"]).endswith("Completed, 1 failed")


def test_of_many_some_of_each_kind_that_needs_eyes_are_named() -> None:
    statuses = {f"b{n}": "failed" for n in range(20)} | {f"b{n}": "running" for n in range(20, 23)}
    _, tree = drawn_run(PAPERS, papers(40, **statuses))
    named = [str(tree.boxes()[box]["class"]) for box in tree.boxes() if box.startswith("read/")]
    assert sum("s-failed" in each for each in named) == 3
    assert sum("s-running" in each for each in named) == 3
    assert "and 17 more" in tree.all_text()


def test_the_body_of_what_was_skipped_is_skipped_too() -> None:
    steps = plan(task("a"), task("again", "", "a", type="loop", body=("x", "in")), task("x"), task("in", type="loop", body=("y",)), task("y"))  # fmt: skip
    _, tree = drawn_run(
        steps, run_of(state("a", "failed"), state("again", "skipped", skip_cause="dependency"))
    )
    for box in ("again/*/x", "again/*/in", "again/*/y"):
        assert "Skipped" in str(tree.boxes()[box]["aria-label"]), box


def test_an_exit_condition_is_filled_where_its_branch_is_drawn() -> None:
    steps = plan(
        task("p", "", type="parallel", body=("again",), instance_params=(InstanceParam("model"),)),
        task("again", "", type="loop", body=("x",), exit_when="{{ model }} is sure"),
        task("x"),
    )
    branch = instance(0, "running", state("again"), metadata={"model": "opus"})
    _, tree = drawn_run(steps, run_of(state("p", "running", instances=[branch])))
    assert "again until opus is sure" in " ".join(tree.all_text().split())


def test_a_branch_that_is_selected_is_marked_and_not_the_construct_around_it() -> None:
    _, tree = drawn_run(PAPERS, papers(3), selected="read/inst_01")
    marked = [box for box, a in tree.boxes().items() if "is-selected" in str(a["class"])]
    assert marked == ["read/inst_01"]
    assert ("search", "read") in tree.lit()


def test_a_path_within_a_box_of_many_selects_that_box() -> None:
    _, tree = drawn_run(PAPERS, papers(40), selected="read/inst_21/check")
    assert "is-selected" in str(tree.boxes()["read"]["class"])
    assert ("search", "read") in tree.lit()


def test_a_walked_edge_is_told_from_one_that_is_not() -> None:
    drawing, _ = drawn_run(
        plan(task("a"), task("b", "", "a"), task("c", "", "b")),
        run_of(state("a", "completed"), state("b", "running")),
    )
    assert str(drawing.svg).count("g-edge--done") == 1


# -- An amendment ------------------------------------------------------------------------------------

BEFORE = plan(task("a"), task("b", "Old words", "a"), task("gone", "", "b"), task("d", "", "gone"))
AFTER = plan(task("a"), task("new", "", "a"), task("b", "New words", "a", "new"), task("d", "", "b"))
REPLAY = [{"op": "replay_step", "target_step_id": "b", "instance_id": None, "instance_path": None}]


def ghosts(view: str = "both", **more: Any) -> tuple[Drawing, Tree]:
    drawing = draw_amendment(
        more.pop("before", BEFORE),
        more.pop("after", AFTER),
        key=object(),
        operations=REPLAY,
        href=lambda path: f"?step={path}",
        view=view,
        yours=True,
        **more,
    )
    assert drawing.svg is not None
    return drawing, Tree(drawing.svg)


def corners(tree: Tree) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    box = ""
    for _, a, _ in tree.found:
        box = str(a.get("data-id") or box)
        if a.get("class") == "g-corner":
            found[box] = a["d"]
    return found


def test_ghosts_say_what_is_added_changed_removed_and_runs_again() -> None:
    _, tree = ghosts()
    classes = {box: str(a["class"]) for box, a in tree.boxes().items()}
    assert "x-added" in classes["new"]
    assert "x-removed" in classes["gone"]
    assert "x-changed" in classes["b"]
    assert "x-" not in classes["a"]
    assert tree.boxes()["b"]["aria-label"] == "b: New words, Reworded, Runs again"
    assert "Waits differently" in str(tree.boxes()["d"]["aria-label"])
    kinds = {(a["class"], None) for _, a, _ in tree.found if "g-edge" in (a.get("class") or "")}
    assert {("g-edge g-edge--add", None), ("g-edge g-edge--del", None), ("g-edge", None)} == kinds


def test_no_view_moves_a_box_or_the_picture() -> None:
    pictures = {view: ghosts(view) for view in ("both", "before", "after")}
    assert len({(drawing.width, drawing.height) for drawing, _ in pictures.values()}) == 1
    everything = corners(pictures["both"][1])
    for view, gone in (("before", "new"), ("after", "gone")):
        there = corners(pictures[view][1])
        assert there == {box: d for box, d in everything.items() if box != gone}
    assert "Old words" in pictures["before"][1].text("b")
    assert "New words" in pictures["after"][1].text("b")


def test_a_view_of_one_side_shows_its_own_edges() -> None:
    assert ("gone", "d") in ghosts("before")[1].edges()
    assert ("b", "d") not in ghosts("before")[1].edges()
    assert ghosts("after")[1].edges() == {("a", "new"), ("a", "b"), ("new", "b"), ("b", "d")}


def test_edges_that_turn_round_make_no_circle() -> None:
    _, tree = ghosts(before=plan(task("a"), task("b", "", "a")), after=plan(task("a", "", "b"), task("b")))
    assert tree.edges() == {("b", "a")}


def test_a_construct_goes_with_its_body_and_what_is_released_stays() -> None:
    before = plan(task("p", "", type="parallel", body=("x", "y")), task("x"), task("y"))
    _, tree = ghosts(before=before, after=plan(task("y")))
    assert tree.boxes()["x"]["data-in"] == "p"
    assert tree.boxes()["y"].get("data-in") is None


def test_an_amendment_of_a_run_tells_states_and_paths() -> None:
    after = Plan((*PAPERS.steps, task("more", "", "read")))
    _, tree = ghosts(before=PAPERS, after=after, run=papers(2))
    assert "read/inst_00/sum" in tree.boxes()
    assert "s-completed" in str(tree.boxes()["search"]["class"])
    assert "x-added" in str(tree.boxes()["more"]["class"])


def test_what_changes_is_never_folded_away() -> None:
    steps = [task("start"), *(task(f"s{n}", f"Sort {n}", "start") for n in range(200))]
    changed = [*steps[:101], task("s100", "Another goal", "start"), *steps[102:]]
    drawing, tree = ghosts(before=Plan(tuple(steps)), after=Plan(tuple(changed)))
    assert "x-changed" in str(tree.boxes()["s100"]["class"])
    assert drawing.folded == 199


# -- Hostile text ------------------------------------------------------------------------------------

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></text></svg><script>x</script>",
    "' onload='x",
    "javascript:alert(1)",
    "&lt;b&gt; &amp; {{ paper }} {% x %}",
    "\u202eevil\u202c \x00\x1b[31m \ud83d\ude00",
    "]]><!--",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    hostile = text = text.encode("utf-16", "surrogatepass").decode("utf-16")
    steps = plan(
        task("a", text, group=text.replace("/", "")),
        task("b", text, "a", type="loop", body=("c",), exit_when=text),
        task("c", text),
    )
    run = papers(2)
    run["step_states"]["search"]["metadata"] = {text: text}
    for branch in run["step_states"]["read"]["instances"]:
        branch["metadata"] = {"paper": text}
    for tree in (
        drawn(steps, marks={"a": text}, href=hostile.__add__)[1],
        drawn_run(PAPERS, run)[1],
        drawn_run(PAPERS, run | papers(40))[1],
        ghosts(before=BEFORE, after=Plan((*AFTER.steps, task("z", text))))[1],
    ):
        tags = {tag for tag, _, _ in tree.found}
        assert tags <= {"svg", "g", "a", "rect", "path", "text", "title", "use"}
        names = {name for _, a, _ in tree.found for name in a}
        assert not any(name.startswith("on") or name in {"id", "style"} for name in names)
        assert not tree.open
        drawn_text = "".join("".join(said) for tag, _, said in tree.found if tag == "text")
        assert "\u202e" not in drawn_text
        assert "\x00" not in drawn_text


# -- Anything ----------------------------------------------------------------------------------------


@st.composite
def histories(draw: st.DrawFn) -> tuple[Plan, dict[str, Any]]:
    """A plan with nested constructs and what happened in a run of it."""
    of = draw(plans())
    status = st.sampled_from(["pending", "running", "completed", "failed", "skipped", "blocked"])

    def states(ids: tuple[str, ...], depth: int) -> dict[str, Any]:
        found = {}
        for step_id in ids:
            if draw(st.integers(0, 5)) == 0:
                continue
            told = state(step_id, draw(status), stale=draw(st.sampled_from([None, None, {"reason": "x"}])))
            body = of.by_id[step_id].body
            if body:
                kind = "iteration" if of.by_id[step_id].type == "loop" else "branch"
                count = draw(st.sampled_from([0, 1, 3, 11] if depth < 2 else [0, 1]))
                told["instances"] = [
                    instance(
                        n,
                        "running",
                        kind=kind,
                        body=list(body),
                        step_states=states(body, depth + 1),
                        metadata={"n": n},
                    )
                    for n in range(count)
                ]
            found[step_id] = told
        return found

    return of, {"step_states": states(of.top_level, 0)}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories(), plans(), st.sampled_from(["both", "before", "after"]))
def test_whatever_happened_it_is_drawn_and_every_top_level_step_is_there(
    told: tuple[Plan, dict[str, Any]], later: Plan, view: str
) -> None:
    of, run = told
    for drawing, tree in (drawn(of, selected="s0"), drawn_run(of, run, selected="s0")):
        folded = {each for a in tree.boxes().values() for each in str(a.get("data-has") or "").split()}
        assert set(of.top_level) <= tree.boxes().keys() | folded
        assert len(set(drawing.order)) == len(drawing.order)
        assert not tree.open
    ghosts(view, before=of, after=later)
    ghosts(view, before=of, after=later, run=run)
