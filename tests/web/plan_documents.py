"""Random plans that keep the rules, as documents, and a browser that sends a form back."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chief_project.web.plan_form import Form

# No NUL and no half of a pair: REST refuses them before a plan is read.
TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12
) | st.sampled_from(
    [
        "two\nlines",
        "\nfirst",
        "last\n",
        "old\r\nends",
        "a\rb",
        " around ",
        "{{ x }}",
        "<b>&amp;",
        '"',
        "null",
        "5",
    ]
)
SAID = TEXT.filter(lambda text: bool(text.strip()))
NAME = SAID.filter(str.isprintable)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
GROUP = st.sampled_from(["build", "build/first", "test", " odd "])


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    """``{title, steps, groups}`` with all keys, in the shape in which answers have them."""
    ids = draw(
        st.lists(st.from_regex(r"[A-Za-z0-9_:-]{1,6}", fullmatch=True), min_size=1, max_size=9, unique=True)
    )
    holder: dict[str, str | None] = {}
    for place, name in enumerate(ids):
        holder[name] = draw(st.sampled_from([None, *ids[:place]])) if place else None
    bodies = {name: draw(st.permutations([each for each in ids if holder[each] == name])) for name in ids}
    steps = []
    for place, name in enumerate(ids):
        kind = draw(st.sampled_from(["loop", "parallel"] if bodies[name] else ["task", "checkpoint"]))
        construct, checkpoint = bool(bodies[name]), kind == "checkpoint"
        before = [each for each in ids[:place] if holder[each] == holder[name]]
        steps.append(
            {
                "id": name,
                "type": kind,
                "goal": draw(SAID),
                "harness": "human" if checkpoint else draw(TEXT),
                "depends_on": draw(st.lists(st.sampled_from(before), unique=True)) if before else [],
                "inputs": draw(OBJECT),
                "outputs": draw(OBJECT),
                "criteria": [
                    {"id": f"c{at}", "text": text}
                    for at, text in enumerate(draw(st.lists(SAID, max_size=3)), 1)
                ]
                if kind == "task"
                else [],
                "body": list(bodies[name]) if construct else None,
                "on_instance_failure": draw(st.sampled_from(["fail_fast", "continue"]))
                if construct
                else None,
                "exit_when": draw(st.none() | TEXT) if kind == "loop" else None,
                "instance_params": draw(st.lists(_named("description"), max_size=3, unique_by=_name))
                if construct
                else [],
                "fields": draw(st.lists(_named("label", "hint"), max_size=3, unique_by=_name))
                if checkpoint
                else [],
                "group": draw(st.none() | GROUP),
                "ref_template_id": None,
                "ref_parameters": {},
            }
        )
    order = draw(st.permutations(steps))
    used = sorted({path for step in steps if step["group"] for path in _parents(step["group"])})
    paths = draw(st.lists(st.sampled_from(used), unique=True)) if used else []
    groups = [{"path": path, "description": draw(TEXT)} for path in paths]
    return {"title": draw(SAID), "steps": list(order), "groups": groups}


def _named(*more: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"name": NAME, **{key: st.none() | TEXT for key in more}, "required": st.booleans()}
    )


def _name(row: dict[str, Any]) -> str:
    return row["name"]


def _parents(path: str) -> list[str]:
    names = path.split("/")
    return ["/".join(names[: at + 1]) for at in range(len(names))]


def sent(form: Form) -> dict[str, str]:
    """What a browser sends of an untouched form: line ends as CRLF, none in a box of one line."""
    data = {}
    for box in form.data():
        text = box.value.replace("\r\n", "\n").replace("\r", "\n")
        data[box.name] = text.replace("\n", "" if box.line else "\r\n")
    return data
