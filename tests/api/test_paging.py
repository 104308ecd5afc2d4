"""Lists come in pages that neither skip nor repeat (contract 1)."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from chief_project.shared import paging as paging_module
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.models import KeptAnswer, UsedId
from chief_project.shared.paging import Paging, paginate

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.api.probe")]


@pytest.fixture
def api(api_as: Callable[..., APIClient], harness_token: str) -> APIClient:
    return api_as(harness_token)


@pytest.fixture
def five() -> None:
    UsedId.objects.bulk_create(UsedId(kind="probe", value=f"v{number}") for number in range(5))


def next_link(answer: object) -> str:
    link = re.fullmatch(r'<(.+)>; rel="next"', answer["Link"])  # type: ignore[index]
    assert link
    assert link[1].startswith(settings.CHIEF_URL.rstrip("/") + "/v1/used?")
    url = urlsplit(link[1])
    return f"{url.path}?{url.query}"


def test_a_list_that_fits_is_a_bare_array_without_a_link(api: APIClient, five: None) -> None:
    answer = api.get("/v1/used")
    assert answer.json() == ["v0", "v1", "v2", "v3", "v4"]
    assert "Link" not in answer
    assert answer["X-Total-Count"] == "5"


def test_an_empty_list_is_an_empty_array(api: APIClient) -> None:
    answer = api.get("/v1/used")
    assert answer.json() == []
    assert answer["X-Total-Count"] == "0"


def test_the_links_lead_through_the_whole_list_and_keep_the_query(api: APIClient, five: None) -> None:
    seen: list[str] = []
    path = "/v1/used?limit=2&since=2026-01-01T00:00:00Z"
    pages = 0
    while path:
        answer = api.get(path)
        seen += answer.json()
        pages += 1
        assert answer["X-Total-Count"] == "5"
        path = next_link(answer) if "Link" in answer else ""
        if path:
            assert "limit=2" in path
            assert "since=2026" in path
    assert seen == ["v0", "v1", "v2", "v3", "v4"]
    assert pages == 3


def test_a_page_that_ends_with_the_list_has_no_next(api: APIClient, five: None) -> None:
    assert "Link" not in api.get("/v1/used?limit=5")


def test_rows_that_come_or_go_between_two_pages_shift_nothing(api: APIClient, five: None) -> None:
    first = api.get("/v1/used?limit=2")
    UsedId.objects.filter(value="v0").delete()
    UsedId.objects.create(kind="probe", value="a-new-one")
    assert api.get(next_link(first)).json() == ["v2", "v3"]


@pytest.mark.parametrize(
    "change", [lambda c: c[:-1], lambda c: "A" + c[1:], lambda c: c.replace(".", "", 1), lambda c: c + "x"]
)
def test_a_cursor_that_was_changed_is_refused(
    api: APIClient, five: None, change: Callable[[str], str]
) -> None:
    cursor = next_link(api.get("/v1/used?limit=2")).split("cursor=")[1]
    answer = api.get(f"/v1/used?cursor={change(cursor)}")
    assert answer.status_code == 422
    assert answer.json()["error"]["details"] == {"parameter": "cursor"}


def test_a_cursor_of_another_list_is_refused(five: None) -> None:
    cursor = paginate(UsedId.objects.all(), order=("value", "id"), paging=Paging(limit=2)).next_cursor
    with pytest.raises(ValidationFailed):
        paginate(UsedId.objects.all(), order=("-value", "id"), paging=Paging(limit=2, cursor=cursor))


def test_beyond_ten_thousand_the_count_is_left_out_unless_asked_for(
    api: APIClient, five: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging_module, "COUNTED_TO", 4)
    assert "X-Total-Count" not in api.get("/v1/used?limit=2")
    assert api.get("/v1/used?limit=2&count=exact")["X-Total-Count"] == "5"
    monkeypatch.setattr(paging_module, "COUNTED_TO", 5)
    assert api.get("/v1/used?limit=2")["X-Total-Count"] == "5"


def test_a_page_takes_at_most_two_statements(five: None) -> None:
    with CaptureQueriesContext(connection) as first:
        page = paginate(UsedId.objects.all(), order=("value", "id"), paging=Paging(limit=2))
    with CaptureQueriesContext(connection) as second:
        paginate(UsedId.objects.all(), order=("value", "id"), paging=Paging(limit=2, cursor=page.next_cursor))
    with CaptureQueriesContext(connection) as whole:
        paginate(UsedId.objects.all(), order=("value", "id"), paging=Paging())
    assert (len(first), len(second), len(whole)) == (2, 2, 1)


@pytest.mark.parametrize(
    "order",
    [("created_at", "-id"), ("-created_at", "id"), ("-created_at", "-key"), ("status", "-created_at", "id")],
)
@pytest.mark.parametrize("as_dicts", [True, False])
def test_mixed_directions_and_equal_values_neither_skip_nor_repeat(
    order: tuple[str, ...], as_dicts: bool
) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    KeptAnswer.objects.bulk_create(
        KeptAnswer(
            principal="p", key=f"k{number:02}", request_hash="", status=number % 3,
            created_at=start + timedelta(milliseconds=number // 3),
        )
        for number in range(20)
    )  # fmt: skip
    rows = (
        KeptAnswer.objects.values("id", "key", "status", "created_at")
        if as_dicts
        else KeptAnswer.objects.all()
    )
    seen: list[str] = []
    cursor = None
    while True:
        page = paginate(rows, order=order, paging=Paging(limit=3, cursor=cursor))
        seen += page.map(lambda row: row["key"] if as_dicts else row.key).rows
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == list(KeptAnswer.objects.order_by(*order).values_list("key", flat=True))
