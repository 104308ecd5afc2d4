"""A repeated POST with its ``Idempotency-Key`` gets the answer it got before (contract 1)."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from chief_project.shared import clock, idempotency
from chief_project.shared.models import KeptAnswer, UsedId

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.api.probe")]

Post = Callable[..., HttpResponse]


@pytest.fixture
def api(api_as: Callable[..., APIClient], harness_token: str) -> APIClient:
    return api_as(harness_token)


@pytest.fixture
def post(api: APIClient) -> Post:
    def send(body: Any, *, key: str | None = "k1", path: str = "/v1/reserve", **headers: str) -> HttpResponse:
        if key is not None:
            headers["idempotency-key"] = key
        return api.post(path, body, headers=headers, format="json")

    return send


def made() -> list[str]:
    return list(UsedId.objects.filter(kind="probe").order_by("id").values_list("value", flat=True))


def test_a_repeated_request_gets_the_first_answer_and_does_nothing(post: Post) -> None:
    first = post({"title": "a"})
    again = post({"title": "a"})
    assert first.status_code == again.status_code == 201
    assert first.content == again.content
    assert "Idempotency-Replayed" not in first
    assert again["Idempotency-Replayed"] == "true"
    assert again["Content-Type"] == "application/json"
    assert made() == ["a"]


def test_without_a_key_every_request_counts(post: Post) -> None:
    assert post({"title": "a"}, key=None).status_code == 201
    assert post({"title": "a"}, key=None).status_code == 409
    assert KeptAnswer.objects.count() == 0


@pytest.mark.parametrize(
    "other",
    [
        {"body": {"title": "b"}},
        {"body": {"title": ""}},
        {"body": {"title": "a"}, "path": "/v1/run-write"},
        {"body": {"title": "a"}, "path": "/v1/reserve?run_id=r"},
    ],
)
def test_a_key_that_was_used_for_another_request_is_a_conflict(post: Post, other: dict[str, Any]) -> None:
    post({"title": "a"})
    body = other.pop("body")
    answer = post(body, **other)
    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "conflict"
    assert "new key" in answer.json()["error"]["message"]
    assert made() == ["a"]


def test_the_kept_answer_comes_before_if_match(post: Post) -> None:
    first = post({"title": "a"}, **{"if-match": '"1"'})
    again = post({"title": "a"}, **{"if-match": '"0"'})
    assert again.content == first.content
    assert again["Idempotency-Replayed"] == "true"
    post({}, path="/v1/run-write", key="other")
    assert post({}, path="/v1/run-write", key="other", **{"if-match": '"1"'}).status_code == 200


def test_a_key_belongs_to_its_principal(
    post: Post, api_as: Callable[..., APIClient], relay_token: str
) -> None:
    post({"title": "a"})
    answer = api_as(relay_token).post(
        "/v1/reserve", {"title": "b"}, headers={"idempotency-key": "k1"}, format="json"
    )
    assert answer.status_code == 201
    assert made() == ["a", "b"]


def test_nobody_without_a_credential_gets_a_kept_answer(post: Post, client: APIClient) -> None:
    post({"title": "a"})
    answer = client.post(
        "/v1/reserve", {"title": "a"}, headers={"idempotency-key": "k1"}, content_type="application/json"
    )
    assert answer.status_code == 401


@pytest.mark.parametrize("body", [{"title": ""}, {"title": "x", "closed": True}, {"title": "x", "what": 1}])
def test_a_refusal_is_not_kept_and_leaves_nothing(post: Post, body: dict[str, Any]) -> None:
    assert post(body).status_code in {409, 422}
    assert KeptAnswer.objects.count() == 0
    assert made() == []
    assert post({"title": "y"}).status_code == 201


def test_a_body_that_is_not_json_is_not_kept(api: APIClient) -> None:
    answer = api.generic(
        "POST", "/v1/reserve", b"{", content_type="application/json", headers={"idempotency-key": "k"}
    )
    assert answer.status_code == 422
    assert KeptAnswer.objects.count() == 0


def test_a_fault_leaves_nothing(post: Post, monkeypatch: pytest.MonkeyPatch, api: APIClient) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("cut off")

    api.raise_request_exception = False
    monkeypatch.setattr(idempotency, "keep", fail)
    assert post({"title": "a"}).status_code == 500
    assert made() == []
    monkeypatch.undo()
    assert post({"title": "a"}).status_code == 201


def test_a_write_to_a_run_keeps_the_minimal_answer_also_when_all_was_asked_for(post: Post) -> None:
    first = post({}, path="/v1/run-write")
    again = post({}, path="/v1/run-write")
    assert "step_states" in first.json()
    assert again.json() == {"run_id": "r", "revision": 7}
    assert again["ETag"] == first["ETag"] == '"7"'
    assert "Preference-Applied" not in again
    small = post({}, path="/v1/run-write", prefer="return=minimal")
    assert small.content == again.content
    assert small["Preference-Applied"] == "return=minimal"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("prefer", ["return=minimal", "return=representation"])
def test_a_key_costs_exactly_two_statements(post: Post, prefer: str) -> None:
    post({"title": "first"}, key=None)  # the token is remembered from here on
    with CaptureQueriesContext(connection) as without:
        post({"title": "a"}, key=None)
    with CaptureQueriesContext(connection) as with_key:
        post({"title": "b"}, key="k2")
    assert len(with_key) == len(without) + 2
    with CaptureQueriesContext(connection) as without:
        post({}, key=None, path="/v1/run-write", prefer=prefer)
    with CaptureQueriesContext(connection) as with_key:
        post({}, key="k3", path="/v1/run-write", prefer=prefer)
    assert len(with_key) == len(without) + 2


def test_after_24_hours_a_key_is_as_new(post: Post) -> None:
    post({"title": "a"})
    KeptAnswer.objects.update(created_at=clock.now() - timedelta(hours=24, seconds=1))
    answer = post({"title": "b"})
    assert answer.status_code == 201
    assert "Idempotency-Replayed" not in answer
    assert post({"title": "b"})["Idempotency-Replayed"] == "true"
    assert KeptAnswer.objects.count() == 1


def test_a_key_is_kept_for_almost_24_hours(post: Post) -> None:
    post({"title": "a"})
    KeptAnswer.objects.update(created_at=clock.now() - timedelta(hours=23, minutes=59))
    assert post({"title": "a"})["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize("key", ["", " ", "k" * 201, "k\t", "é", "k\x7f"])
def test_a_key_that_is_not_printable_or_too_long_is_refused(post: Post, key: str) -> None:
    answer = post({"title": "a"}, key=key)
    assert answer.status_code == 422
    assert answer.json()["error"]["details"] == {"header": "Idempotency-Key"}
    assert made() == []


def test_a_key_may_be_200_characters_long(post: Post) -> None:
    assert post({"title": "a"}, key="k" * 200).status_code == 201


def test_only_a_post_heeds_a_key(api: APIClient) -> None:
    for _ in range(2):
        answer = api.patch("/v1/echo", {"title": "a"}, headers={"idempotency-key": "k"}, format="json")
        assert answer.status_code == 201
        assert "Idempotency-Replayed" not in answer
    assert KeptAnswer.objects.count() == 0


def test_expired_answers_are_purged_oldest_first_and_the_others_stay(post: Post) -> None:
    for number in range(4):
        post({"title": f"t{number}"}, key=f"k{number}")
    old = clock.now() - timedelta(hours=25)
    for number in range(3):
        KeptAnswer.objects.filter(key=f"k{number}").update(created_at=old + timedelta(seconds=number))
    assert idempotency.purge(at=clock.now(), at_most=1) == 1
    assert set(KeptAnswer.objects.values_list("key", flat=True)) == {"k1", "k2", "k3"}
    assert idempotency.purge(at=clock.now()) == 2
    assert list(KeptAnswer.objects.values_list("key", flat=True)) == ["k3"]


def test_a_process_purges_once_an_hour_after_an_answer(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    post({"title": "a"}, key="old")
    KeptAnswer.objects.update(created_at=clock.now() - timedelta(hours=25))
    monkeypatch.setattr(idempotency, "_next_purge", 0.0)
    post({"title": "b"}, key="new")
    assert list(KeptAnswer.objects.values_list("key", flat=True)) == ["new"]


def test_a_purge_that_fails_takes_no_answer_away(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(**_: Any) -> int:
        raise OperationalError("database is locked")

    monkeypatch.setattr(idempotency, "purge", locked)
    monkeypatch.setattr(idempotency, "_next_purge", 0.0)
    assert post({"title": "a"}).status_code == 201


def test_a_purge_that_left_some_is_followed_by_another(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        post({"title": f"t{number}"}, key=f"k{number}")
    KeptAnswer.objects.update(created_at=clock.now() - timedelta(hours=25))
    monkeypatch.setattr(idempotency, "PURGE_AT_MOST", 2)
    monkeypatch.setattr(idempotency, "_next_purge", 0.0)
    idempotency.purge_now_and_then(at=clock.now())
    assert KeptAnswer.objects.count() == 1
    assert idempotency._next_purge < time.monotonic() + 2
    monkeypatch.setattr(idempotency, "_next_purge", 0.0)
    idempotency.purge_now_and_then(at=clock.now())
    assert KeptAnswer.objects.count() == 0
    assert idempotency._next_purge > time.monotonic() + 3000


@pytest.mark.django_db(transaction=True)
def test_a_twin_waits_and_gets_the_kept_answer(
    api_as: Callable[..., APIClient], harness_token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight at once: one row, one answer, given eight times."""
    clients = [api_as(harness_token) for _ in range(8)]
    assert clients[0].get("/v1/tagged").status_code == 200
    gate = threading.Barrier(len(clients))
    answers: list[HttpResponse] = []

    def send(api: APIClient) -> None:
        gate.wait()
        try:
            answers.append(
                api.post("/v1/reserve", {"title": "a"}, headers={"idempotency-key": "twin"}, format="json")
            )
        finally:
            connection.close()

    threads = [threading.Thread(target=send, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [201] * 8
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotency-Replayed" in answer for answer in answers) == 7
    assert made() == ["a"]


@pytest.mark.django_db(transaction=True)
def test_a_twin_of_a_refused_request_does_the_work_itself(
    api_as: Callable[..., APIClient], harness_token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first fails while the second waits on its key."""
    first, second = api_as(harness_token), api_as(harness_token)
    assert first.get("/v1/tagged").status_code == 200
    claimed, waiting = threading.Event(), threading.Event()
    answers: dict[str, HttpResponse] = {}
    begin = idempotency.begin

    def slow_begin(**kwargs: Any) -> Any:
        if threading.current_thread().name == "first":
            begin(**kwargs)
            claimed.set()
            waiting.wait(5)
            raise RuntimeError("cut off")
        waiting.set()
        return begin(**kwargs)

    monkeypatch.setattr(idempotency, "begin", slow_begin)
    first.raise_request_exception = second.raise_request_exception = False

    def send(name: str, api: APIClient) -> None:
        try:
            if name == "second":
                claimed.wait(5)
                waiting.set()
            answers[name] = api.post(
                "/v1/reserve", {"title": "a"}, headers={"idempotency-key": "twin"}, format="json"
            )
        finally:
            connection.close()

    threads = [
        threading.Thread(name=name, target=send, args=(name, api))
        for name, api in (("first", first), ("second", second))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers["first"].status_code == 500
    assert answers["second"].status_code == 201
    assert "Idempotency-Replayed" not in answers["second"]
