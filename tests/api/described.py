"""A client that is made from the API's description, and holds both sides to it."""

import json
from typing import Any

from django.http import HttpResponse
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from rest_framework.test import APIClient

from chief_project.shared.http.description import description


class DescribedApi:
    """``call(operation_id, …)`` makes the request that the description says, and checks the answer against it."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = json.loads(description()[0])
        self._registry: Registry[Any] = Registry().with_resource(
            "urn:chief", Resource.from_contents(self.document, default_specification=DRAFT202012)
        )
        self.operations = {
            operation["operationId"]: (method, path)
            for path, methods in self.document["paths"].items()
            for method, operation in methods.items()
        }
        self.called: set[str] = set()

    def call(
        self,
        api: APIClient,
        operation_id: str,
        *,
        body: Any = None,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        status: int | None = None,
        **places: str | int,
    ) -> Any:
        """The answer's document. ``status``: the one refusal or success that is expected (any success without)."""
        method, path = self.operations[operation_id]
        where = ["paths", path, method]
        operation = self.document["paths"][path][method]
        if body is not None:
            self._check([*where, "requestBody", "content", "application/json", "schema"], body)
        answer: HttpResponse = api.generic(
            method.upper(),
            path.format(**places),
            b"" if body is None else json.dumps(body),
            content_type="application/json",
            query_params=query,
            headers=headers,
        )
        said = f"{operation_id}: {answer.status_code} {answer.content[:800]!r}"
        assert answer.status_code < 300 if status is None else answer.status_code == status, said
        assert str(answer.status_code) in operation["responses"], said
        kind = answer["Content-Type"]
        document = json.loads(answer.content) if kind == "application/json" else answer.content.decode()
        found = [*where, "responses", str(answer.status_code)]
        if "$ref" in operation["responses"][str(answer.status_code)]:
            found = operation["responses"][str(answer.status_code)]["$ref"].removeprefix("#/").split("/")
        self._check([*found, "content", kind, "schema"], document)
        if answer.status_code < 300:
            self.called.add(operation_id)
        return document

    def _check(self, where: list[str], value: Any) -> None:
        pointer = "/".join(token.replace("~", "~0").replace("/", "~1") for token in where)
        validator = Draft202012Validator({"$ref": f"urn:chief#/{pointer}"}, registry=self._registry)
        problems = [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(value)]
        assert problems == [], f"{'/'.join(where[1:3])}: {problems[:5]}"
