"""The page of an artifact: what it holds by its type, where it comes from, and what people say about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from chief_project.web.artifact_data import COLUMNS, LONGEST, ROWS, icon_of, shown
from runs.models import ArtifactComment
from tests.amendments import amend, replay
from tests.plans import parallel, task
from tests.run_calls import comment, update
from tests.runs import add_instance, new_run
from tests.web.markup import read

WebAs = Callable[..., Client]
HERE = "/runs/r1/artifacts/one"


def a_run(reviewer: Caller, harness: Caller, **keys: Any) -> None:
    new_run(reviewer, task("a", goal="Read it"), parallel("p", ["x"], depends_on=["a"]), task("x"))
    one = {
        "artifact_id": "one",
        "type": "text/markdown",
        "description": "What was read",
        "data": "# Found\n\n**two** things",
    }
    update(harness, "a", "completed", artifacts=[one | keys])
    add_instance(harness, "p")
    update(
        harness, "p/inst_00/x", artifacts=[{"artifact_id": "two", "type": "image/png", "ref": "out/3.png"}]
    )


def body(answer: Any) -> str:
    return str(answer.content.decode())


# -- The page ----------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_an_artifact_is_laid_out_with_where_it_comes_from(
    web_as: WebAs, vic: User, reviewer: Caller, harness: Caller
) -> None:
    a_run(reviewer, harness)
    answer = web_as(vic).get(HERE)
    assert answer.status_code == 200
    text = read(body(answer)).text
    assert "What was read" in text
    assert "<h3>Found</h3>" in body(answer)
    assert "<strong>two</strong>" in body(answer)
    assert "by planner" in text
    links = [attributes["href"] for tag, attributes in read(body(answer)).elements if tag == "a"]
    assert "/runs/r1?step=a" in links
    assert "/runs/r1/artifacts/two" in links
    assert "/runs/r1/artifacts" in links


@pytest.mark.django_db
def test_a_name_of_a_file_is_text_that_can_be_copied_and_an_address_is_a_link(
    web_as: WebAs, vic: User, reviewer: Caller, harness: Caller
) -> None:
    a_run(reviewer, harness, ref="https://example.org/a")
    found = read(body(web_as(vic).get(HERE))).elements
    (link,) = [attributes for tag, attributes in found if attributes.get("href") == "https://example.org/a"]
    assert link["rel"] == "noreferrer noopener nofollow"
    page = body(web_as(vic).get("/runs/r1/artifacts/two"))
    assert '<code id="artifact-ref" translate="no" dir="ltr">out/3.png</code>' in page
    assert 'data-copy="artifact-ref"' in page
    assert "out/3.png" not in [attributes.get("href") for _, attributes in read(page).elements]
    assert not [tag for tag, _ in read(page).elements if tag == "img"]


@pytest.mark.django_db
def test_a_superseded_one_says_so_and_still_takes_comments(
    web_as: WebAs, rita: User, reviewer: Caller, harness: Caller
) -> None:
    a_run(reviewer, harness)
    amend(reviewer, replay("a"), kind="history_edit")
    assert "Superseded" in read(body(web_as(rita).get(HERE))).text
    assert web_as(rita).post(f"{HERE}/comments", {"body": "Kept"}).status_code == 303


@pytest.mark.django_db
def test_who_reviews_comments_and_comes_back_to_it(
    web_as: WebAs, rita: User, reviewer: Caller, harness: Caller
) -> None:
    a_run(reviewer, harness)
    answer = web_as(rita).post(f"{HERE}/comments", {"form": "comment", "body": " Look\r\nagain <b>. "})
    assert (answer.status_code, answer["Location"]) == (303, f"{HERE}#comments")
    row = ArtifactComment.objects.get()
    assert (row.body, row.author, row.via) == ("Look\nagain <b>.", "rita", "web")
    page = body(web_as(rita).get(HERE))
    assert "Look<br>again &lt;b&gt;." in page
    assert AuditEntry.objects.filter(event="artifact.commented").count() == 1


@pytest.mark.django_db
def test_a_comment_without_words_is_refused_and_nothing_is_written(
    web_as: WebAs, rita: User, reviewer: Caller, harness: Caller
) -> None:
    a_run(reviewer, harness)
    before = AuditEntry.objects.count()
    answer = web_as(rita).post(f"{HERE}/comments", {"form": "comment", "body": " \n "})
    assert answer.status_code == 422
    assert "a comment needs words" in body(answer)
    assert (ArtifactComment.objects.count(), AuditEntry.objects.count()) == (0, before)


@pytest.mark.django_db
def test_who_only_reads_sees_no_form_and_keeps_the_words_that_were_refused(
    web_as: WebAs, vic: User, reviewer: Caller, harness: Caller
) -> None:
    a_run(reviewer, harness)
    assert "<textarea" not in body(web_as(vic).get(HERE))
    answer = web_as(vic).post(f"{HERE}/comments", {"form": "comment", "body": "Mine"})
    assert answer.status_code == 403
    assert not ArtifactComment.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/runs/r1/artifacts/nine", "/runs/r9/artifacts/one"])
def test_what_is_not_there_is_said(
    web_as: WebAs, vic: User, reviewer: Caller, harness: Caller, address: str
) -> None:
    a_run(reviewer, harness)
    assert web_as(vic).get(address).status_code == 404


@pytest.mark.django_db
def test_signed_out_one_comes_back_after_signing_in(web_as: WebAs) -> None:
    assert web_as(None).get(HERE)["Location"].endswith("next=%2Fruns%2Fr1%2Fartifacts%2Fone")


@pytest.mark.django_db
def test_the_page_costs_the_same_however_much_was_said(
    web_as: WebAs, rita: User, reviewer: Caller, harness: Caller
) -> None:
    a_run(reviewer, harness)

    def cost() -> int:
        web = web_as(rita)
        web.get(HERE)
        with CaptureQueriesContext(connection) as caught:
            web.get(HERE)
        return len(caught)

    before = cost()
    for _ in range(5):
        comment(reviewer, "one")
        update(harness, "p/inst_00/x", artifacts=[{"type": "note", "ref": "x"}])
    assert cost() == before


# -- What an artifact holds ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "data", "ref", "how"),
    [
        ("text/markdown", "# x", None, "document"),
        ("report", "# x", "out/report.py", "document"),
        ("anything", "words", None, "document"),
        ("anything", "x = 1", "train.py", "code"),
        ("text/x-python", "x = 1", None, "code"),
        ("text/html", "<script>", None, "code"),
        ("image/svg+xml", "<svg onload=alert(1)>", None, "code"),
        ("application/json; charset=utf-8", '{"a":1}', None, "code"),
        ("text/plain", "# no heading", None, "plain"),
        ("text/csv", "a,b\n1,2\n", None, "table"),
        ("image/png", "iVBORw0KGgo=", None, "named"),
        ("anything", "data:image/png;base64,iVBORw0KGgo=", None, "named"),
        ("application/pdf", "%PDF", None, "named"),
        ("text/markdown", {"n": 1}, None, "code"),
        ("text/csv", [["a"]], None, "code"),
        ("anything", False, None, "code"),
        ("", "", None, "document"),
    ],
)  # fmt: skip
def test_its_type_says_how_it_is_shown(kind: str, data: Any, ref: str | None, how: str) -> None:
    made = shown(kind, data, ref)
    assert made is not None
    assert made["as"] == how


def test_nothing_is_shown_of_what_it_does_not_hold() -> None:
    assert shown("text/markdown", None, "a.md") is None


def test_json_in_a_text_is_indented_and_what_is_none_stays_as_it_is() -> None:
    assert "&quot;a&quot;</span>: <span" in shown("json", '{"a":1}', None)["html"]  # type: ignore[index]
    assert read(shown("json", '{"a":', None)["html"]).text == '{"a":'  # type: ignore[index]


def test_of_a_long_table_the_first_rows_are_shown_and_the_rest_is_counted() -> None:
    lines = "name,n\n" + "".join(f"row {number},{number}\n" for number in range(1200))
    made = shown("text/csv", lines, None)
    assert made is not None
    assert len(made["rows"]) == ROWS
    assert made["note"] == f"The first {ROWS} of 1200 rows"
    assert made["head"] == [("name", False), ("n", True)]


@pytest.mark.parametrize(
    "text", ["a,b\n1\n1,2,3\n", 'a,"b\nc', "\0,\0\n", '"', "," * 10_000 + "\n1", "x" * 200_000 + ",1\n", '"a"b,c\n', "a\r\nb\r\n"]
)  # fmt: skip
def test_a_table_that_is_none_is_shown_all_the_same(text: str) -> None:
    made = shown("text/csv", text, None)
    assert made is not None
    assert made["as"] in {"table", "plain"}
    if made["as"] == "table":
        assert len({len(row) for row in [made["head"], *made["rows"]]}) == 1
        assert len(made["head"]) <= COLUMNS


def test_of_a_long_text_the_beginning_is_shown_and_that_is_said() -> None:
    made = shown("text/plain", "x" * (LONGEST + 1), None)
    assert made is not None
    assert len(made["text"]) == LONGEST
    assert made["note"] == "The first 200.0 kB of 200.0 kB."
    assert "of" in shown("json", [0] * LONGEST, None)["note"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("kind", "icon"),
    [("image/png", "image"), ("text/csv", "table"), ("application/json", "braces"), ("x", "file")],
)
def test_its_icon_tells_its_kind(kind: str, icon: str) -> None:
    assert icon_of(kind) == icon
