"""A run's tree as a flat list: its order, its names, what is left out of a timeline, and how long a person took."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from runs.domain.board import (
    InstanceRow,
    Node,
    Span,
    StateRow,
    board,
    merged,
    only_steps,
    timeline,
    waited,
    within,
)
from tests.plans import checkpoint, parallel, plan, task
from workflows.documents import StepDocument, plan_value
from workflows.domain.plan import Plan

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def value(*steps: dict[str, Any]) -> Plan:
    return plan_value([StepDocument.model_validate(step) for step in plan(*steps)["steps"]], [])


FAN = value(
    task("first"),
    parallel("fan", ["x", "y"], instance_params=[{"name": "paper"}], depends_on=["first"]),
    task("x", goal="Read {{ paper }} and {{ that }}"),
    task("y", depends_on=["x"]),
    checkpoint("ok", depends_on=["fan"]),
)


def state(
    pk: int, step_id: str, status: str = "pending", instance: int | None = None, **keys: Any
) -> StateRow:
    kind = {"fan": "parallel", "ok": "checkpoint"}.get(step_id, "task")
    row = StateRow(pk, instance, step_id, kind, status, None, False, 0, None, None)
    return row._replace(**keys)


def instance(pk: int, number: int, status: str = "running", **metadata: Any) -> InstanceRow:
    return InstanceRow(
        pk,
        2,
        f"inst_{number:02d}",
        number,
        "branch",
        status,
        None,
        False,
        0,
        None,
        None,
        metadata,
        ["x", "y"],
    )


def fanned(count: int, *, failed: int | None = None, body: tuple[str, ...] = ("x", "y")) -> list[Node]:
    states = [state(1, "first", "completed"), state(2, "fan", "running"), state(3, "ok")]
    instances = []
    for number in range(count):
        status = "failed" if number == failed else "completed"
        instances.append(instance(100 + number, number, status, paper=f"p{number}")._replace(body=list(body)))
        states += [
            state(1000 + 10 * number + place, step, status, 100 + number) for place, step in enumerate(body)
        ]
    return board(FAN, states, instances, {})


def test_what_is_inside_follows_what_it_is_inside_of_in_the_plans_order() -> None:
    nodes = board(
        FAN,
        [
            state(3, "ok"),
            state(2, "fan", "running"),
            state(1, "first", "completed"),
            state(9, "gone", "skipped", skip_cause="removed"),
            state(12, "y", instance=21),
            state(11, "x", "running", instance=21),
            state(13, "x", "completed", instance=20),
            state(14, "y", instance=20),
        ],
        [instance(21, 1, paper="b"), instance(20, 0, paper="a")],
        {},
    )
    assert ["/".join(node.path) for node in nodes] == [
        "first",
        "fan",
        "fan/inst_00",
        "fan/inst_00/x",
        "fan/inst_00/y",
        "fan/inst_01",
        "fan/inst_01/x",
        "fan/inst_01/y",
        "ok",
        "gone",
    ]
    by_path = {"/".join(node.path): node for node in nodes}
    assert by_path["fan/inst_00"].name == "paper=a"
    assert by_path["fan/inst_01/x"].goal == "Read b and {{ that }}"
    assert by_path["gone"].step is None
    assert (by_path["fan"].inside, by_path["fan/inst_00"].inside, by_path["first"].inside) == (2, 2, 0)


def test_an_instance_without_its_parameters_is_called_by_its_id() -> None:
    nodes = board(FAN, [state(2, "fan", "running")], [instance(20, 0, paper="")], {})
    assert nodes[1].name == "inst_00"


def test_whatever_is_around_something_that_waits_waits_too() -> None:
    nodes = board(
        FAN,
        [state(2, "fan", "running"), state(11, "x", "blocked", instance=20), state(12, "y", instance=20)],
        [instance(20, 0, paper="a")],
        {},
    )
    assert [(node.name, node.look) for node in nodes] == [
        ("fan", "waiting"),
        ("paper=a", "waiting"),
        ("x", "waiting"),
        ("y", "pending"),
    ]


def test_a_mark_is_told_before_the_status() -> None:
    (node,) = board(FAN, [state(1, "first", "completed", stale=True)], [], {})
    assert node.look == "stale"


def test_a_branch_of_one_step_is_that_step() -> None:
    nodes = fanned(3, body=("x",))
    assert [node.path[-1] for node in only_steps(nodes)] == ["first", "fan", "x", "x", "x", "ok"]
    assert [node.path[-1] for node in only_steps(fanned(1))] == ["first", "fan", "inst_00", "x", "y", "ok"]


def test_a_long_fan_out_is_summarised_and_what_asks_for_attention_is_named() -> None:
    rows = timeline(fanned(212, failed=150))
    names = [row.node.name if row.node else f"and {row.left_out} more" for row in rows]
    assert names[:4] == ["first", "fan", "paper=p0", "x"]
    assert "paper=p150" in names
    assert names[-2:] == ["and 207 more", "ok"]
    assert rows[-2].around == ("fan",)
    assert len([name for name in names if name.startswith("paper=")]) == 5


def test_a_branch_that_completed_with_failures_is_named_too() -> None:
    nodes = fanned(30)
    next(node for node in nodes if node.path == ("fan", "inst_20")).failures = 1
    assert "paper=p20" in [row.node.name for row in timeline(nodes) if row.node]


def test_a_dozen_branches_are_all_shown() -> None:
    assert all(row.node for row in timeline(fanned(12)))


def test_what_was_left_out_says_when_it_ran() -> None:
    nodes = fanned(20, body=("x",))
    for number, node in enumerate(node for node in nodes if node.kind == "instance"):
        node.started_at = NOON + timedelta(minutes=10 * (number % 7))
        node.completed_at = node.started_at + timedelta(minutes=5 if number % 7 else 12)
    (rest,) = [row for row in timeline(nodes) if row.node is None]
    minutes = [(since - NOON, until and until - NOON) for since, until in rest.ran]
    assert minutes[0] == (timedelta(), timedelta(minutes=15))
    assert len(minutes) == 6


def test_of_a_thousand_steps_the_first_are_shown_and_those_that_ask_for_attention() -> None:
    names = [f"s{number}" for number in range(1000)]
    states = [state(number, name, "completed") for number, name in enumerate(names, 1)]
    states[700] = states[700]._replace(status="failed")
    rows = timeline(board(value(*map(task, names)), states, [], {}))
    assert [row.node.name for row in rows if row.node] == [*names[:150], "s700"]
    assert (rows[-1].node, rows[-1].around, rows[-1].left_out) == (None, (), 849)


def test_a_branch_of_one_step_is_one_row_with_what_its_step_waited() -> None:
    span = Span(NOON, None, "question")
    nodes = board(
        FAN,
        [state(2, "fan", "running"), state(11, "x", "blocked", instance=20)],
        [instance(20, 0, paper="a")._replace(body=["x"])],
        {11: [span]},
    )
    rows = timeline(nodes)
    assert [row.node.name for row in rows if row.node] == ["fan", "paper=a"]
    assert rows[1].node is not None
    assert rows[1].node.spans == [span]


def test_times_that_overlap_are_waited_once() -> None:
    def span(since: int, until: int | None) -> Span:
        minutes = NOON + timedelta(minutes=since)
        return Span(minutes, None if until is None else NOON + timedelta(minutes=until), "question")

    now = NOON + timedelta(minutes=60)
    assert waited([], now=now) == timedelta()
    assert waited([span(0, 10), span(5, 20), span(6, 8), span(30, 40)], now=now) == timedelta(minutes=30)
    assert waited([span(50, None), span(55, None)], now=now) == timedelta(minutes=10)


def test_waits_with_little_between_them_can_be_told_as_one() -> None:
    def span(since: int, until: int) -> Span:
        return Span(NOON + timedelta(minutes=since), NOON + timedelta(minutes=until), "question")

    spans = [span(20, 30), span(0, 5), span(4, 10), span(12, 13)]
    assert [(since - NOON) // timedelta(minutes=1) for since, _ in merged(spans, now=NOON)] == [0, 12, 20]
    (first, second) = merged(spans, now=NOON, gap=timedelta(minutes=2))
    assert (first[1] - first[0], second[0] - NOON) == (timedelta(minutes=13), timedelta(minutes=20))


# -- A part of the time ------------------------------------------------------------------------------


def timed(*times: tuple[int, int | None] | None) -> list[Node]:
    """A fan-out whose branches, and their single step, ran from minute to minute; None for one that has not begun."""
    nodes = fanned(len(times), body=("x",))
    for node in nodes:
        node.status = "pending"
    for number, time in enumerate(times):
        for node in nodes:
            if node.path[:2] == ("fan", f"inst_{number:02d}") and time is not None:
                since, until = time
                node.status = "running" if until is None else "completed"
                node.started_at = NOON + timedelta(minutes=since)
                node.completed_at = None if until is None else NOON + timedelta(minutes=until)
    return nodes


def seen(nodes: list[Node], since: int | None, until: int | None) -> list[str]:
    ends = [None if each is None else NOON + timedelta(minutes=each) for each in (since, until)]
    return [node.name for node in within(nodes, *ends) if node.kind == "instance" or node.depth == 0]


def test_within_two_moments_is_what_ran_then_and_what_that_is_inside_of() -> None:
    nodes = timed((0, 10), (10, 20), (20, 20), (30, None), None)
    assert seen(nodes, 12, 15) == ["fan", "paper=p1"]
    assert seen(nodes, 10, 20) == ["fan", "paper=p1"], "what touches an end isn't inside"
    assert seen(nodes, 20, 21) == ["fan", "paper=p2"], "what took no time at all is"
    assert seen(nodes, None, 11) == ["fan", "paper=p0", "paper=p1"]
    assert seen(nodes, 100, 200) == ["fan", "paper=p3"], "what goes on goes on"
    assert seen(nodes, 22, 25) == []


def test_without_an_end_it_holds_what_is_still_to_come() -> None:
    assert seen(timed((0, 10), (30, None), None), 12, None) == ["first", "fan", "paper=p1", "paper=p2", "ok"]
    nodes = timed((0, 10), None)
    for node in nodes:
        node.status = "skipped" if node.status == "pending" else node.status
    assert seen(nodes, 12, None) == [], "what was skipped never comes"


def test_of_many_branches_those_within_are_shown_in_full_where_they_are_few() -> None:
    nodes = timed(*((number, number + 1) for number in range(100)))
    names = [row.node.name if row.node else "rest" for row in timeline(within(nodes, NOON + timedelta(minutes=40), NOON + timedelta(minutes=50)))]  # fmt: skip
    assert names == ["fan", *(f"paper=p{number}" for number in range(40, 50))]


def test_a_branch_within_whose_step_is_not_is_a_row_of_its_own() -> None:
    nodes = timed((0, 30), (5, 6))
    for node in nodes:
        if node.path == ("fan", "inst_00", "x"):
            node.completed_at = NOON + timedelta(minutes=1)
    for until in (30, 25):
        rows = timeline(within(nodes, NOON + timedelta(minutes=20), NOON + timedelta(minutes=until)))
        assert [row.node.name for row in rows if row.node] == ["fan", "paper=p0"]


def test_ten_thousand_branches_are_laid_out_at_once() -> None:
    nodes = fanned(10_000)
    assert len(nodes) == 30_003
    assert len(timeline(nodes)) < 60
    assert len(timeline(within(nodes, NOON, None))) < 60
