"""People in front of pages, without a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from chief_project.shared.models import User
from chief_project.web.graph import scene


@pytest.fixture(autouse=True)
def _drawings_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page goes without its picture rather than be late; here it has one, however busy the machine is."""
    monkeypatch.setattr(scene, "LIMIT", 10.0)


@pytest.fixture
def web_as(db: None) -> Callable[..., Client]:
    """``web_as(user)``: a client whose session is that user's; ``web_as(None)`` is signed out. ``csrf=True`` checks it."""

    def client(user: User | None, *, csrf: bool = False) -> Client:
        web = Client(enforce_csrf_checks=csrf)
        if user is not None:
            web.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return web

    return client
