"""Two clients of REST, as a story has them: the harness's token and a person who is signed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from chief_project.shared.models import User


class Client:
    """A client that says what it expects; every answer is JSON."""

    def __init__(self, api: APIClient) -> None:
        self._api = api

    def get(self, path: str, *, status: int = 200) -> Any:
        return self._checked(self._api.get(f"/v1{path}"), status)

    def post(self, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        sent = self._api.post(f"/v1{path}", {} if body is None else body, headers=headers)
        return self._checked(sent, status)

    def put(self, path: str, body: Any, *, status: int = 200, **headers: str) -> Any:
        return self._checked(self._api.put(f"/v1{path}", body, headers=headers), status)

    def patch(self, path: str, body: Any, *, status: int = 200) -> Any:
        return self._checked(self._api.patch(f"/v1{path}", body), status)

    @staticmethod
    def _checked(answer: Any, status: int) -> Any:
        assert answer.status_code == status, answer.content
        return answer.json()


@pytest.fixture
def agent(api_as: Callable[..., APIClient], harness_token: str) -> Client:
    """The harness ``planner``, which may not pass on decisions."""
    return Client(api_as(harness_token))


@pytest.fixture
def person(api_as: Callable[..., APIClient], owner: User) -> Client:
    """``owner``, signed in."""
    return Client(api_as(owner))
