"""The API's description is complete, valid, and changes only on purpose."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from chief_project.shared.http.description import description
from chief_project.shared.http.errors import CODES

SNAPSHOT = Path(__file__).with_name("openapi.json")
HOW = "./chief spectacular --format openapi-json --file tests/project/openapi.json"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(description()[0])
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def test_it_is_valid_and_made_without_a_warning(tmp_path: Path) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "openapi.yaml"))


def test_it_is_the_snapshot(tmp_path: Path) -> None:
    """A change is made on purpose: write the snapshot anew, look at its diff, and commit it."""
    call_command("spectacular", format="openapi-json", file=str(tmp_path / "openapi.json"))
    made = json.loads((tmp_path / "openapi.json").read_text())
    kept = json.loads(SNAPSHOT.read_text()) if SNAPSHOT.exists() else {}
    assert made == kept, f"the API's description has changed; if that is meant: {HOW}"


def test_every_operation_has_a_name_of_its_own_that_is_a_verb_in_snake_case(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []


def test_every_operation_says_what_it_does(document: dict[str, Any]) -> None:
    assert [path for _, path, operation in operations(document) if not operation.get("description")] == []


def test_every_refusal_has_the_one_shape(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        for status, answer in operation["responses"].items():
            if status < "400":
                continue
            assert int(status) in CODES, f"{method} {path} declares {status}"
            if "$ref" in answer:
                answer = document["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
            schema = answer["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/Error"}, f"{method} {path} {status}"


def test_every_operation_declares_its_success_and_the_refusals_that_any_may_meet(
    document: dict[str, Any],
) -> None:
    for method, path, operation in operations(document):
        declared = set(operation["responses"])
        assert {"401", "403", "406", "422", "500", "503"} <= declared, f"{method} {path}"
        assert declared & {"200", "201"}, f"{method} {path}"
        if method in {"post", "put", "patch"}:
            assert {"409", "413", "415"} <= declared, f"{method} {path}"
        if "{" in path:
            assert "404" in declared, f"{method} {path}"


def test_every_operation_can_be_called_with_a_token_or_a_session(document: dict[str, Any]) -> None:
    assert set(document["components"]["securitySchemes"]) == {"token", "session"}
    for _, _, operation in operations(document):
        assert operation["security"] == [{"token": []}, {"session": []}]


def test_every_post_takes_an_idempotency_key_and_nothing_else_does(document: dict[str, Any]) -> None:
    for method, _, operation in operations(document):
        names = {parameter["name"] for parameter in operation.get("parameters", ())}
        assert ("Idempotency-Key" in names) == (method == "post")


def test_every_list_is_paged(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        names = {parameter["name"] for parameter in operation.get("parameters", ())}
        if "cursor" in names:
            answer = operation["responses"]["200"]
            assert {"Link", "X-Total-Count"} <= set(answer["headers"]), path
            assert answer["content"]["application/json"]["schema"]["type"] == "array", path
            assert method == "get"
            assert "limit" in names


def test_no_request_body_allows_an_unknown_field_at_its_top(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            component = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
            assert component.get("additionalProperties") is False, f"{method} {path}"


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    waiting: list[Any] = [document]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            if isinstance(here.get("$ref"), str):
                target: Any = document
                for token in here["$ref"].removeprefix("#/").split("/"):
                    target = target[token]
                assert target != {"$ref": here["$ref"]}, here["$ref"]
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)


@pytest.mark.django_db
def test_anyone_may_read_it_and_it_is_made_once(client: Client) -> None:
    answer = client.get("/v1/schema/")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    assert answer.json()["openapi"].startswith("3.1")
    again = client.get("/v1/schema/", headers={"if-none-match": answer["ETag"]})
    assert again.status_code == 304
    assert client.get("/v1/schema").status_code == 404


@pytest.mark.django_db
def test_anyone_may_browse_it_with_our_own_assets_and_no_inline_script(client: Client) -> None:
    page = client.get("/v1/docs/", headers={"accept": "text/html"})
    text = page.content.decode()
    assert page.status_code == 200
    assert re.findall(r"<script(?![^>]*\bsrc=)", text) == []
    sources = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert sources
    assert [source for source in sources if not source.startswith("/")] == []
    assert "script-src 'self';" in page["Content-Security-Policy"] + ";"
    for source in sources:
        asset = client.get(source.replace("&amp;", "&"))
        assert asset.status_code == 200, source
        asset.close()
    script = client.get(next(source for source in sources if "script" in source and "docs" in source))
    assert script["Content-Type"].startswith("application/javascript")
    assert "validatorUrl" in script.content.decode()
    assert "http://" not in script.content.decode()
    assert "https://" not in script.content.decode()
