"""The language of approval policies: what it means, what it refuses, and what it proves (contract 5)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chief_project.shared.expressions import (
    MAX_DEPTH,
    MAX_LENGTH,
    ExpressionError,
    Scalar,
    Set,
    Vocabulary,
    evaluate,
    parse,
    prove,
)

OPS = ("insert_after", "insert_before", "update_step", "remove_step", "replay_step")
AMENDMENT = Vocabulary(
    "amendment",
    (
        Scalar("kind", domain=("forward", "history_edit")),
        Scalar("proposed_by"),
        Scalar("actor"),
        Set("ops", domain=OPS),
    ),
)
WORKFLOW = Vocabulary(
    "workflow",
    (
        Scalar("template_id", nullable=True),
        Scalar("source", domain=("import", "generated", "human")),
        Scalar("title"),
    ),
)
FACTS = {
    "kind": "forward",
    "proposed_by": "planner",
    "actor": "ci-token",
    "ops": frozenset({"insert_after", "update_step"}),
}


def holds(text: str, **facts: object) -> bool:
    return evaluate(parse(text, AMENDMENT), FACTS | facts)


def refusal(text: str, vocabulary: Vocabulary = AMENDMENT) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse(text, vocabulary)
    return caught.value


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("true", True),
        ("false", False),
        ("!false", True),
        ("!!false", False),
        ("amendment.kind == 'forward'", True),
        ("amendment.kind != 'forward'", False),
        ('amendment.kind == "history_edit"', False),
        ("amendment.proposed_by in ['planner', 'claude_cli']", True),
        ("amendment.proposed_by in ['claude_cli']", False),
        ("amendment.ops subset_of ['insert_after', 'update_step']", True),
        ("amendment.ops subset_of ['insert_after', 'insert_before']", False),
        ("amendment.kind == 'forward' && amendment.actor == 'nobody'", False),
        ("amendment.kind == 'forward' || amendment.actor == 'nobody'", True),
        ("true || true && false", True),  # '&&' binds tighter
        ("(true || true) && false", False),
        ("!false && false", False),  # '!' binds tightest
        ("!(false && false)", True),
        ("!amendment.kind == 'history_edit'", True),
        ("  true\n\t&&\r\n true ", True),
        ("amendment.kind=='forward'&&!false", True),
    ],
)
def test_an_expression_means_what_the_contract_says(text: str, answer: bool) -> None:
    assert holds(text) is answer


@pytest.mark.parametrize(
    ("quoted", "value"),
    [
        (r"'a\'b'", "a'b"),
        (r'"a\"b"', 'a"b'),
        (r"'a\\b'", r"a\b"),
        (r"'a\n\tb'", "a\n\tb"),
        (r"'a\u200Db'", "a\u200db"),
        ("'naïve 漢字'", "naïve 漢字"),
        ('"it\'s"', "it's"),
        ("''", ""),
        ("'amendment.kind == && ('", "amendment.kind == && ("),
    ],
)
def test_texts_are_quoted_with_few_escapes(quoted: str, value: str) -> None:
    assert holds(f"amendment.proposed_by == {quoted}", proposed_by=value)
    assert not holds(f"amendment.proposed_by == {quoted}", proposed_by=value + "x")


def test_a_field_that_holds_nothing_equals_nothing() -> None:
    facts = {"template_id": None, "source": "human", "title": "t"}
    for text, answer in {
        "workflow.template_id == 'tpl'": False,
        "workflow.template_id == ''": False,
        "workflow.template_id != 'tpl'": True,
        "workflow.template_id in ['tpl', 'None']": False,
    }.items():
        assert evaluate(parse(text, WORKFLOW), facts) is answer


@pytest.mark.parametrize(
    ("text", "offset", "end", "found", "expected"),
    [
        ("amendment.kind = 'forward'", 15, 16, "'='", "'=='"),
        ("amendment.kind == forward", 18, 25, "'forward'", "a quoted text"),
        ("amendment.kind == true", 18, 22, "'true'", "a quoted text"),
        ("(amendment.kind == 'forward'", 28, 28, "the end", "')'"),
        ("amendment.kind", 14, 14, "the end", "'=='"),
        ("true true", 5, 9, "'true'", "'&&'"),
        ("true and false", 5, 8, "'and'", "'&&'"),
        (") true", 0, 1, "')'", "amendment.kind"),
        ("amendment.proposed_by in []", 26, 27, "']'", "a quoted text"),
        ("amendment.proposed_by in ['a' 'b']", 30, 33, "'b'", "','"),
        ("amendment.proposed_by in ['a',]", 30, 31, "']'", "a quoted text"),
        ("amendment.proposed_by in 'a'", 25, 28, "'a'", "'['"),
        ("'forward' == amendment.kind", 0, 9, "'forward'", "amendment.kind"),
        ("true &&", 7, 7, "the end", "'!'"),
        ("true; false", 4, 5, "';'", "the end"),
        ("true \x00", 5, 6, "U+0000", "the end"),
        ("true \ud800", 5, 6, "U+D800", "the end"),
        ("amendment.kind == 'forward", 18, 26, "'''", "a quoted text"),
        ("", 0, 0, "nothing", "'true'"),
    ],
)
def test_a_syntax_error_says_where_what_and_what_instead(
    text: str, offset: int, end: int, found: str, expected: str
) -> None:
    error = refusal(text)
    assert (error.offset, error.end, error.found) == (offset, end, found)
    assert expected in error.expected
    error.message.encode()
    error.pointed.encode()


@pytest.mark.parametrize(
    "word", ["__import__('os')", "amendment.__class__ == 'x'", "amendment == 'x'", "len(1)"]
)
def test_nothing_outside_the_vocabulary_can_be_said(word: str) -> None:
    error = refusal(word)
    assert error.offset == 0
    assert error.expected == AMENDMENT.names
    assert "amendment.kind, amendment.proposed_by" in error.message


def test_another_policys_namespace_is_named_with_the_fields_of_this_one() -> None:
    error = refusal("true && workflow.title == 'x'")
    assert "unknown namespace 'workflow'" in error.message
    assert (error.offset, error.end) == (8, 22)
    assert "amendment.ops" in error.message


def test_a_value_that_a_field_never_holds_is_refused_because_it_can_never_match() -> None:
    for text in ("amendment.kind == 'foward'", "amendment.kind != 'foward'", "amendment.kind in ['foward']"):
        error = refusal(text)
        assert "can never match" in error.message
        assert "'forward' or 'history_edit'" in error.message
        assert text[error.offset : error.end] == "'foward'"
    assert "can never match" in refusal("amendment.ops subset_of ['insert']").message
    assert "can never match" in refusal("workflow.source == 'template'", WORKFLOW).message


def test_a_set_and_a_text_have_their_own_comparisons() -> None:
    for operator in ("== 'insert_after'", "!= 'insert_after'", "in ['insert_after']"):
        assert "is a set" in refusal(f"amendment.ops {operator}").message
    assert "not a set" in refusal("amendment.kind subset_of ['forward']").message


@pytest.mark.parametrize("written", [r"\q", r"\u12", r"\uD800", r"\x41", r"\0"])
def test_an_unknown_escape_is_refused_at_its_place(written: str) -> None:
    error = refusal(f"amendment.proposed_by == 'a{written}b'")
    assert error.offset == 27
    assert "not an escape" in error.message


@pytest.mark.parametrize("unseen", ["\u200d", "\u202e", "\x07", "\t", "\ud800", "\u00a0"])
def test_what_cant_be_seen_must_be_written_as_an_escape(unseen: str) -> None:
    error = refusal(f"amendment.proposed_by == 'a{unseen}b'")
    assert error.offset == 27
    assert "can't be seen" in error.message
    error.message.encode()


@pytest.mark.parametrize("opener", ["(", "!", "!("])
def test_depth_is_limited_long_before_it_could_hurt(opener: str) -> None:
    fits = MAX_DEPTH // len(opener)
    closer = ")" * opener.count("(")
    assert holds(opener * fits + "true" + closer * fits)
    for times in (fits + 1, 3_900 // len(opener)):
        for text in (opener * times, opener * times + "true" + closer * min(times, 20)):
            error = refusal(text)
            assert error.offset == MAX_DEPTH
            assert "nested more than 64 deep" in error.message


def test_breadth_is_not_depth() -> None:
    assert holds(" && ".join(["!(true && !true)"] * 200))
    assert holds("||".join(["!true"] * 500 + ["true"]))


def test_length_is_limited() -> None:
    assert holds("true" + " " * (MAX_LENGTH - 4))
    error = refusal("true" + " " * (MAX_LENGTH - 3))
    assert error.offset == MAX_LENGTH
    assert "at most 4000 characters" in error.message


def test_facts_are_complete_and_possible() -> None:
    rule = parse("true", AMENDMENT)
    with pytest.raises(ValueError, match=r"no fact for amendment\.ops"):
        evaluate(rule, {key: value for key, value in FACTS.items() if key != "ops"})
    for wrong in (
        {"kind": "other"},
        {"kind": None},
        {"ops": frozenset({"x"})},
        {"ops": "insert_after"},
        {"x": "y"},
    ):
        with pytest.raises(ValueError, match="amendment"):
            evaluate(rule, FACTS | wrong)


@pytest.mark.parametrize(
    ("text", "known", "answer"),
    [
        ("amendment.kind == 'forward'", {"kind": "history_edit"}, False),
        ("amendment.kind == 'forward'", {}, None),
        ("amendment.kind == 'forward' || amendment.kind != 'forward'", {}, True),
        ("amendment.kind == 'forward' && amendment.kind == 'history_edit'", {}, False),
        ("amendment.kind in ['forward', 'history_edit']", {}, True),
        ("amendment.proposed_by == 'x'", {"kind": "history_edit"}, None),
        ("amendment.kind == 'forward' && amendment.proposed_by == 'x'", {"kind": "history_edit"}, False),
        ("amendment.proposed_by == 'x' && amendment.kind != 'history_edit'", {"kind": "history_edit"}, False),
        ("amendment.kind == 'forward' || amendment.proposed_by == 'x'", {"kind": "history_edit"}, None),
        ("!(amendment.kind == 'history_edit')", {"kind": "history_edit"}, False),
        # An over-declared history edit may hold anything, so its operations prove nothing.
        ("amendment.ops subset_of ['insert_after']", {"kind": "history_edit"}, None),
        (f"amendment.ops subset_of {list(OPS)}", {"kind": "history_edit"}, True),
        ("false && amendment.proposed_by == 'x'", {}, False),
        ("true || amendment.proposed_by == 'x'", {}, True),
    ],
)
def test_a_proof_needs_only_what_is_known(text: str, known: dict[str, str], answer: bool | None) -> None:
    assert prove(parse(text, AMENDMENT), known) is answer


TEXTS = ("a", "b")  # "c" stands for every other text
COMPLETIONS = {
    "kind": ("forward", "history_edit"),
    "proposed_by": (*TEXTS, "c"),
    "actor": (*TEXTS, "c"),
    "ops": tuple(
        frozenset(some) for size in range(len(OPS) + 1) for some in itertools.combinations(OPS, size)
    ),
}


def listed(values: list[str]) -> str:
    return "[" + ", ".join(f"'{value}'" for value in values) + "]"


def some_of(values: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=3).map(listed)


@st.composite
def comparisons(draw: st.DrawFn) -> str:
    field = draw(st.sampled_from(("kind", "kind", "proposed_by", "actor", "ops")))
    if field == "ops":
        return f"amendment.ops subset_of {draw(some_of(OPS))}"
    values = COMPLETIONS["kind"] if field == "kind" else TEXTS
    if draw(st.booleans()):
        return f"amendment.{field} in {draw(some_of(values))}"
    return f"amendment.{field} {draw(st.sampled_from(('==', '!=')))} '{draw(st.sampled_from(values))}'"


EXPRESSIONS = st.recursive(
    comparisons() | st.sampled_from(("true", "false")),
    lambda inner: (
        inner.map(lambda part: f"!({part})")
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: "(" + " && ".join(parts) + ")")
        | st.lists(inner, min_size=2, max_size=3).map(" || ".join)
    ),
    max_leaves=8,
)


def completions(known: dict[str, object]) -> itertools.product:
    return itertools.product(
        *([known[name]] if name in known else values for name, values in COMPLETIONS.items())
    )


@given(
    text=EXPRESSIONS, names=st.sets(st.sampled_from(("kind", "proposed_by", "actor", "ops"))), data=st.data()
)
def test_a_proof_holds_for_every_completion(text: str, names: set[str], data: st.DataObject) -> None:
    expression = parse(text, AMENDMENT)
    known = {name: data.draw(st.sampled_from(COMPLETIONS[name])) for name in names}
    proved = prove(expression, known)
    answers = {
        evaluate(expression, dict(zip(COMPLETIONS, values, strict=True))) for values in completions(known)
    }
    if proved is not None:
        assert answers == {proved}
    if len(names) == len(COMPLETIONS):
        assert answers == {proved}  # with everything known, nothing stays open


@given(text=EXPRESSIONS)
def test_whatever_is_proved_false_for_history_edits_matches_none(text: str) -> None:
    expression = parse(text, AMENDMENT)
    if prove(expression, {"kind": "history_edit"}) is False:
        for values in completions({"kind": "history_edit"}):
            assert not evaluate(expression, dict(zip(COMPLETIONS, values, strict=True)))


@given(text=EXPRESSIONS)
def test_saying_forward_first_always_suffices(text: str) -> None:
    guarded = parse(f"amendment.kind == 'forward' && ({text})", AMENDMENT)
    assert prove(guarded, {"kind": "history_edit"}) is False


WORDS = [
    "amendment.kind",
    "amendment.ops",
    "amendment.x",
    "workflow.title",
    "==",
    "!=",
    "in",
    "subset_of",
    "&&",
    "||",
    "!",
    "(",
    ")",
    "[",
    "]",
    ",",
    "true",
    "false",
    "'forward'",
    '"x"',
    "'",
    "\\",
    "=",
    "&",
    "é",
]
TOKENS = st.sampled_from([*WORDS, " ", "\n"])


@given(text=st.lists(TOKENS, max_size=30).map("".join) | st.text(max_size=60))
def test_any_text_is_read_or_refused_within_its_bounds(text: str) -> None:
    error = None
    try:
        parse(text, AMENDMENT)
    except ExpressionError as refused:
        error = refused
    if error is not None:
        assert 0 <= error.offset <= error.end <= len(text)
        assert error.message
        for said in (error.message, error.pointed, error.found):
            said.encode()
