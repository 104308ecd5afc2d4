"""A plan as a nested list."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chief_project.web.outline import Node, outline_of
from workflows.domain.plan import Plan, Step


def task(step_id: str) -> Step:
    return Step(id=step_id, type="task", goal=step_id)


def loop(step_id: str, *body: str) -> Step:
    return Step(id=step_id, type="loop", goal=step_id, body=body)


def told(nodes: list[Node]) -> str:
    """The lists as brackets."""
    text = ""
    for node in nodes:
        text += node.step.id + ("[" if node.opens else " ") + "]" * node.closes
    return text


def test_a_body_stands_below_its_construct_in_its_own_order() -> None:
    plan = Plan((task("a"), loop("l", "c", "m"), task("b"), loop("m", "d"), task("c"), task("d")))
    nodes = outline_of(plan)
    assert told(nodes) == "a l[c m[d ]]b "
    assert [(node.step.id, node.depth) for node in nodes] == [
        ("a", 0),
        ("l", 0),
        ("c", 1),
        ("m", 1),
        ("d", 2),
        ("b", 0),
    ]


def test_a_goal_is_told_without_marks_and_cut_at_its_placeholders() -> None:
    (node,) = outline_of(Plan((Step("a", "task", "Read **all** of `{{ paper }}`"),)))
    assert node.goal == [("Read all of ", False), ("{{ paper }}", True)]


def test_lines_lead_somewhere_and_carry_counts_of_notes() -> None:
    first, second = outline_of(
        Plan((task("a"), task("b"))), link=lambda step: f"?step={step.id}", selected="b", notes={"a": 2}
    )
    assert (first.href, first.selected, first.notes) == ("?step=a", False, 2)
    assert (second.href, second.selected, second.notes) == ("?step=b", True, 0)


def test_a_plan_as_deep_and_as_long_as_plans_may_be_is_told() -> None:
    deep = (*(loop(f"l{at}", f"l{at + 1}") for at in range(64)), task("l64"))
    nodes = outline_of(Plan((*deep, *(task(f"t{at}") for at in range(5_000)))))
    assert len(nodes) == 5_065
    assert nodes[64].depth == nodes[64].closes == 64


@settings(deadline=None)
@given(st.data())
def test_lists_that_open_end_and_each_step_stands_once(data: st.DataObject) -> None:
    names = [f"s{at}" for at in range(data.draw(st.integers(1, 12)))]
    holder = {
        name: data.draw(st.sampled_from([None, *names[:place]])) if place else None
        for place, name in enumerate(names)
    }
    bodies = {name: tuple(each for each in names if holder[each] == name) for name in names}
    plan = Plan(tuple(loop(name, *bodies[name]) if bodies[name] else task(name) for name in names))
    nodes = outline_of(plan)
    assert sorted(node.step.id for node in nodes) == sorted(names)
    open_lists = 0
    for node in nodes:
        assert node.depth == open_lists
        open_lists += node.opens - node.closes
    assert open_lists == 0
