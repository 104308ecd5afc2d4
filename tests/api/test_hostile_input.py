"""Bad input is refused with a reason and a place, never with a 5xx, and in time that grows linearly (contract 1)."""

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.test import APIClient

from chief_project.shared.errors import ValidationFailed
from chief_project.shared.wire import dumps, parse_json
from chief_project.shared.wire.parsing import check_depth

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.api.probe")]

Send = Callable[..., HttpResponse]


@pytest.fixture
def send(api_as: Callable[..., APIClient], harness_token: str) -> Send:
    api = api_as(harness_token)

    def sending(
        raw: bytes | str, path: str = "/v1/echo", content_type: str = "application/json", **extra: Any
    ) -> HttpResponse:
        return api.generic("POST", path, raw, content_type=content_type, **extra)

    return sending


def error_of(answer: HttpResponse, status: int = 422, code: str = "validation_failed") -> dict[str, Any]:
    assert answer.status_code == status, answer.content[:500]
    error: dict[str, Any] = json.loads(answer.content)["error"]
    assert error["code"] == code
    return error


# -- Bytes that aren't a document --------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        b"{", b'{"title":', b'{"title":"a"', b"}", b"{]", b'{"title":"a"}{}', b"nonsense", b"'a'", b'{"title":"a",}',
        b'{title:"a"}', b"\xef\xbb\xbf{}", b'{"title":"\x00"}', b'{"title":"\t"}', b'{"title":"\\x"}', b"//", b" ",
    ],
)  # fmt: skip
def test_what_is_not_json_is_refused_with_line_and_column(send: Send, raw: bytes) -> None:
    error = error_of(send(raw))
    assert "not JSON" in error["message"]
    assert error["details"]["line"] >= 1
    assert error["details"]["column"] >= 1


@pytest.mark.parametrize(
    "raw", [b'{"title":"\xff"}', b'{"title":"\xed\xa0\x80"}', b"\xfe\xff\x00{", "{}".encode("utf-16")]
)
def test_what_is_not_utf_8_is_refused(send: Send, raw: bytes) -> None:
    assert "UTF-8" in error_of(send(raw))["message"]


@pytest.mark.parametrize("raw", [b"[]", b'"text"', b"1", b"null", b"true", b"1e3"])
def test_a_body_is_an_object(send: Send, raw: bytes) -> None:
    error = error_of(send(raw))
    assert "must be a JSON object" in error["message"]
    assert error["details"]["pointer"] == ""


def test_no_body_is_an_empty_object(send: Send) -> None:
    for content_type in ("", "application/json", "text/plain"):
        error = error_of(send(b"", content_type=content_type))
        assert error["details"]["errors"] == [{"pointer": "/title", "message": "is required"}]


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx",
     "application/json; charset=latin-1", "application/merge-patch+json", "a" * 3000, "é"],
)  # fmt: skip
def test_anything_but_json_is_an_unsupported_media_type(send: Send, content_type: str) -> None:
    error = error_of(send(b'{"title":"a"}', content_type=content_type), 415, "unsupported_media_type")
    assert "application/json" in error["message"]


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'],
)
def test_json_in_utf_8_may_say_so(send: Send, content_type: str) -> None:
    assert send('{"title":"é"}'.encode(), content_type=content_type).status_code == 201


def test_a_compressed_body_is_refused(send: Send) -> None:
    error_of(send(b"\x1f\x8b", headers={"content-encoding": "gzip"}), 415, "unsupported_media_type")


def test_a_body_over_the_limit_is_too_large(send: Send, settings: Any) -> None:
    settings.CHIEF_MAX_BODY_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1024
    assert send(b'{"title":"' + b"a" * 1000 + b'"}').status_code == 201
    error_of(send(b'{"title":"' + b"a" * 1014 + b'"}'), 413, "too_large")
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = None
    assert error_of(send(b'{"title":"' + b"a" * 1014 + b'"}'), 413, "too_large")["details"]["limit"] == 1024


def test_a_body_of_10_megabytes_is_too_large_as_it_comes(send: Send) -> None:
    error_of(send(b'{"title":"' + b"a" * 10_000_000 + b'"}'), 413, "too_large")


def test_a_text_of_a_megabyte_is_kept_as_it_is(send: Send) -> None:
    assert json.loads(send(dumps({"title": "g" * 1_000_000})).content)["title"] == "g" * 1_000_000


@pytest.mark.parametrize("length", ["-1", "x", "99999999999999999999", ""])
def test_a_false_content_length_is_never_a_fault(send: Send, length: str) -> None:
    assert send(b'{"title":"a"}', CONTENT_LENGTH=length).status_code in {201, 413, 422}


# -- Keys, texts and numbers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        (b'{"title":"a","title":"a"}', "/title"),
        (b'{"title":"a","metadata":{"x":[0,{"k/~":1,"k/~":2}]}}', "/metadata/x/1/k~1~0"),
        (rb'{"title":"a","metadata":{"a":1,"\u0061":2}}', "/metadata/a"),
        (b'{"title":"a","unknown":{"":1,"":2}}', "/unknown/"),
    ],
)
def test_a_key_that_stands_twice_is_named(send: Send, raw: bytes, pointer: str) -> None:
    error = error_of(send(raw))
    assert "twice" in error["message"]
    assert error["details"]["pointer"] == pointer


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        (rb'{"title":"\u0000"}', "/title"),
        (rb'{"title":"\ud800"}', "/title"),
        (rb'{"title":"\uDFFF"}', "/title"),
        (rb'{"title":"\udc00\ud800"}', "/title"),
        (rb'{"title":"\ud83d\ud83d\ude00"}', "/title"),
        (rb'{"title":"\ud83d\ude00\ude00"}', "/title"),
        (rb'{"title":"\\ud83d\udc00"}', "/title"),
        (rb'{"title":"a","metadata":{"deep":["ok",{"x":"y\u0000"}]}}', "/metadata/deep/1/x"),
        (rb'{"title":"a","metadata":{"\u0000":1}}', "/metadata"),
        (rb'{"title":"a","metadata":{"m":{"\udfff":1}}}', "/metadata/m"),
        (rb'{"\ud800":1}', ""),
    ],
)
def test_text_that_no_database_keeps_is_refused_with_its_place(send: Send, raw: bytes, pointer: str) -> None:
    error = error_of(send(raw))
    assert error["details"]["pointer"] == pointer
    assert "take it out" in error["message"]


def test_text_that_only_looks_like_it_is_kept(send: Send) -> None:
    title = r"\u0000 \ud800 \\udfff 😀 \\\u0000"
    raw = json.dumps({"title": title}).encode()
    assert b"\\ud83d\\ude00" in raw
    assert json.loads(send(raw).content)["title"] == title


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "9" * 400 + ".0", "9" * 4301]
)
def test_a_number_that_is_not_finite_is_refused(send: Send, number: str) -> None:
    error_of(send(f'{{"title":"a","metadata":{{"n":{number}}}}}'))


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**300, 10**4299, -(10**100)])
def test_an_integer_of_any_size_comes_back_exactly(send: Send, number: int) -> None:
    answer = send(f'{{"title":"a","metadata":{{"n":{number}}}}}')
    assert answer.status_code == 201
    assert json.loads(answer.content)["metadata"]["n"] == number


# -- Depth -------------------------------------------------------------------------------------------


def nested(levels: int) -> bytes:
    """A body ``levels`` deep, its own braces and those of ``metadata`` included."""
    return b'{"title":"a","metadata":{"m":' + b"[" * (levels - 2) + b"]" * (levels - 2) + b"}}"


def test_a_body_as_deep_as_the_limit_is_taken_and_one_deeper_is_not(send: Send, settings: Any) -> None:
    assert send(nested(settings.CHIEF_MAX_JSON_DEPTH)).status_code == 201
    error = error_of(send(nested(settings.CHIEF_MAX_JSON_DEPTH + 1)))
    assert "64 levels" in error["message"]


@pytest.mark.parametrize("levels", [1000, 100_000])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("pair", [b"[]", b"{}"])
def test_any_depth_is_refused_without_recursion(send: Send, levels: int, closed: bool, pair: bytes) -> None:
    opening = pair[:1] if pair == b"[]" else b'{"a":'
    error_of(send(b'{"title":"a","metadata":' + opening * levels + pair[1:] * levels * closed))


@pytest.mark.parametrize(
    "raw", [b'"' + b"[" * 100 + b'"', rb'["\"[[[[[[[[[[["]', b'{"a":"]}]}[[[[[[[[[[[[[["}']
)
def test_brackets_in_texts_are_no_depth(raw: bytes) -> None:
    check_depth(raw, 8)


@pytest.mark.parametrize(
    ("raw", "depth"), [(b"[[[]]]", 3), (b'[{"a":[{}]}]', 4), (b'[[],[[]],"[[["]', 3), (b'[["\\\\"],[1]]', 2)]
)
def test_depth_is_counted_to_the_level(raw: bytes, depth: int) -> None:
    assert parse_json(raw) is not None
    check_depth(raw, depth)
    with pytest.raises(ValidationFailed):
        check_depth(raw, depth - 1)


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 1_000_000,
        b"[" + b"[]," * 330_000 + b"[]]",
        b"[" * 70 + b'"' + b'\\"' * 500_000,
        b"[" * 70 + b'"' * 1_000_001,
        b"[" * 70 + b"\\" * 1_000_001,
        b'{"' + b"a" * 1_000_000,
        b'["' + rb"\ud83d\ude00" * 80_000 + b'"]',
        b'["' + rb"\ud83d" * 160_000 + b'"]',
        b'{"a":' * 60 + b"1" * 1_000_000,
    ],
    ids=range(9),
)
def test_a_hostile_megabyte_is_judged_in_a_moment(raw: bytes) -> None:
    started = time.process_time()
    with suppress(ValidationFailed):
        parse_json(raw)
    assert time.process_time() - started < 1.0  # a few hundredths here; quadratic would be minutes


# -- Strict bodies -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "pointer", "said"),
    [
        ({"title": "a", "titel": "b"}, "/titel", "unknown field 'titel'"),
        ({}, "/title", "is required"),
        ({"title": None}, "/title", "must not be null"),
        ({"title": ""}, "/title", "must not be blank"),
        ({"title": " \n\u2003"}, "/title", "must not be blank"),
        ({"title": 1}, "/title", "must be a text"),
        ({"title": True}, "/title", "must be a text"),
        ({"title": ["a"]}, "/title", "must be a text"),
        ({"title": "a", "thing_id": "a/b"}, "/thing_id", "is not an id"),
        ({"title": "a", "thing_id": ".."}, "/thing_id", "is not an id"),
        ({"title": "a", "thing_id": "é"}, "/thing_id", "is not an id"),
        ({"title": "a", "thing_id": "a" * 201}, "/thing_id", "is not an id"),
        ({"title": "a", "thing_id": "a\n"}, "/thing_id", "is not an id"),
        ({"title": "a", "index": "1"}, "/index", "must be a whole number"),
        ({"title": "a", "index": 1.0}, "/index", "must be a whole number"),
        ({"title": "a", "index": True}, "/index", "must be a whole number"),
        ({"title": "a", "index": -1}, "/index", "must be at least 0"),
        ({"title": "a", "index": 2**31}, "/index", "must be at most 2147483647"),
        ({"title": "a", "index": 10**100}, "/index", "must be at most 2147483647"),
        ({"title": "a", "index": None}, "/index", "must not be null"),
        ({"title": "a", "closed": "true"}, "/closed", "must be true or false"),
        ({"title": "a", "closed": 1}, "/closed", "must be true or false"),
        ({"title": "a", "kind": "Loop"}, "/kind", "must be one of loop, parallel"),
        ({"title": "a", "kind": {}}, "/kind", "must be one of loop, parallel"),
        ({"title": "a", "metadata": []}, "/metadata", "must be an object"),
        ({"title": "a", "answers": {"x": 1}}, "/answers/x", "must be a text"),
        ({"title": "a", "answers": "x"}, "/answers", "must be an object"),
        ({"title": "a", "tags": {}}, "/tags", "must be an array"),
        ({"title": "a", "tags": "ab"}, "/tags", "must be an array"),
        ({"title": "a", "tags": [{"name": "x"}, 1]}, "/tags/1", "must be an object"),
        ({"title": "a", "tags": [{"name": "x"}, {"name": " "}]}, "/tags/1/name", "must not be blank"),
        ({"title": "a", "tags": [{"name": "x", "a/b": 1}]}, "/tags/0/a~1b", "unknown field 'a/b'"),
        ({"title": "a", "decided_by": "two\nlines"}, "/decided_by", "must stand on one line"),
        ({"title": "a", "decided_by": "x" * 201}, "/decided_by", "at most 200"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named_with_what_it_must_be(send: Send, body: Any, pointer: str, said: str) -> None:
    details = error_of(send(dumps(body)))["details"]
    assert details["pointer"] == pointer
    assert len(details["errors"]) == 1
    assert said in details["errors"][0]["message"]
    assert said in json.loads(send(dumps(body)).content)["error"]["message"]


def test_everything_wrong_is_said_at_once(send: Send) -> None:
    error = error_of(send(dumps({"titel": "a", "index": "x", "tags": [{}, {"name": 1}]})))
    assert [problem["pointer"] for problem in error["details"]["errors"]] == [
        "/titel", "/title", "/index", "/tags/0/name", "/tags/1/name",
    ]  # fmt: skip
    assert "and 4 more" in error["message"]


def test_a_long_list_of_errors_is_cut_and_says_how_many_more(send: Send) -> None:
    error = error_of(send(dumps({"title": "a", "tags": [{}] * 70})))
    assert len(error["details"]["errors"]) == 50
    assert error["details"]["more"] == 20


def test_a_key_of_a_megabyte_is_not_said_back_whole(send: Send) -> None:
    answer = send(json.dumps({"x" * 1_000_000: 1}).encode())
    assert answer.status_code == 422
    assert b"unknown field" in answer.content
    assert len(answer.content) < 5_000


def test_left_out_null_and_blank_are_three_things(send: Send) -> None:
    def kept(**body: Any) -> Any:
        return json.loads(send(dumps({"title": "a", **body})).content)

    assert "note" not in kept()
    assert kept(note=None)["note"] is None
    assert kept(note="")["note"] == ""


def test_text_is_kept_as_typed(send: Send) -> None:
    assert json.loads(send(dumps({"title": "  a\tb\r\n"})).content)["title"] == "  a\tb\r\n"


@pytest.mark.parametrize(
    ("body", "pointer", "said"),
    [
        ({"title": "a", "parts": [{"id": "x", "what": 1}]}, "/parts/0/what", "unknown field 'what'"),
        ({"title": "a"}, "/parts", "is required"),
        ({"title": 1, "parts": []}, "/title", "must be a text"),
        ({"title": "a", "parts": {}}, "/parts", "must be an array"),
        (
            {"title": "a", "parts": [{"id": "x", "parts": [{"id": None}]}]},
            "/parts/0/parts/0/id",
            "must be a text",
        ),
        (
            {"title": "a", "parts": [{"id": "x", "criteria": ["ok", {"id": "y", "z": 1}]}]},
            "/parts/0/criteria/1",
            "",
        ),
        ({"title": "a", "parts": [7]}, "/parts/0", "must be an object"),
    ],
)
def test_a_wrong_place_in_a_large_document_is_pointed_at(
    send: Send, body: Any, pointer: str, said: str
) -> None:
    details = error_of(send(dumps(body), "/v1/whole"))["details"]
    assert details["pointer"].startswith(pointer)
    assert said in details["errors"][0]["message"]


def test_a_long_list_of_errors_in_a_large_document_is_cut_too(send: Send) -> None:
    details = error_of(send(dumps({"title": "a", "parts": [{}] * 5000}), "/v1/whole"))["details"]
    assert len(details["errors"]) == 50
    assert details["more"] == 4950


# -- Query strings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("limt=1", "limt"), ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"), ("limit=", "limit"),
        ("limit=1e2", "limit"), ("limit=1.0", "limit"), ("limit=%D9%A1", "limit"), ("limit=" + "9" * 5000, "limit"),
        ("limit=1&limit=2", "limit"), ("count=all", "count"), ("cursor=", "cursor"), ("cursor=x", "cursor"),
        ("since=yesterday", "since"), ("since=2026-01-01T00:00:00", "since"), ("since=0001-01-01T00:00:00%2B14:00", "since"),
        ("since=2026-01-01T00:00:00+02:00", "since"), ("cursor=%00", "cursor"), ("%00=1", "\0"), ("a%ff=1", "a\ufffd"),
    ],
)  # fmt: skip
def test_a_query_parameter_that_is_unknown_or_wrong_is_named(
    api_as: Callable[..., APIClient], harness_token: str, query: str, name: str
) -> None:
    error = error_of(api_as(harness_token).get(f"/v1/used?{query}"))
    assert error["details"] == {"parameter": name}


def test_an_unknown_query_parameter_is_named_once_with_those_there_are(
    api_as: Callable[..., APIClient], harness_token: str
) -> None:
    said = error_of(api_as(harness_token).get("/v1/used?limt=1"))["message"]
    assert said.startswith("unknown query parameter 'limt': it takes limit, ")
    assert error_of(api_as(harness_token).get("/v1/used?limit=0"))["message"].startswith(
        "query parameter 'limit': must be"
    )


def test_an_operation_without_query_parameters_takes_none(send: Send) -> None:
    error = error_of(send(b'{"title":"a"}', "/v1/echo?dry_run=true"))
    assert error["details"] == {"parameter": "dry_run"}
    assert "takes none" in error["message"]


# -- Answers -----------------------------------------------------------------------------------------


def test_times_are_iso_8601_in_utc_with_milliseconds() -> None:
    moment = datetime(2026, 1, 31, 12, 0, 0, 5000, tzinfo=UTC)
    assert dumps({"at": moment}) == b'{"at":"2026-01-31T12:00:00.005Z"}'
    assert (
        dumps({"at": moment, "n": 2**70}) == b'{"at":"2026-01-31T12:00:00.005Z","n":1180591620717411303424}'
    )


@pytest.mark.parametrize("constructs", [64, 200, 5000])
def test_a_run_tree_serialises_however_deep(constructs: int) -> None:
    moment = datetime(2026, 1, 31, tzinfo=UTC)
    tree: Any = {"metadata": {"é": [1.5, None, True, 'a"b\n\u2028', {}, []]}, "started_at": moment}
    for _ in range(constructs):
        tree = {
            "status": "running",
            "step_states": {"s": {"instances": [{"index": 0, "at": moment, "in": tree}]}},
        }
    written = dumps(tree)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        if constructs <= 200:
            read = json.loads(written)
            for _ in range(constructs):
                read = read["step_states"]["s"]["instances"][0]["in"]
            assert read == {
                "metadata": {"é": [1.5, None, True, 'a"b\n\u2028', {}, []]},
                "started_at": "2026-01-31T00:00:00.000Z",
            }
    finally:
        sys.setrecursionlimit(limit)
    assert written.count(b"step_states") == constructs
    assert written.count(b"[") == written.count(b"]")
