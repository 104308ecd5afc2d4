"""A page and its action with nothing behind them, for what holds of every page."""

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.urls import path

from chief_project.shared.caller import Caller
from chief_project.shared.errors import InvalidTransition, NotFound, ValidationFailed
from chief_project.urls import urlpatterns as product
from chief_project.web.forms import flag, number, text
from chief_project.web.pages import action, page

HERE = str(settings.BASE_DIR / "tests" / "web" / "templates")
MOMENT = datetime(2026, 1, 2, 23, 30, tzinfo=UTC)


@page("sample.html", parts=("panel",))
def sample(request: HttpRequest, caller: Caller, name: str) -> dict[str, Any]:
    if name == "gone":
        raise NotFound("there is no sample 'gone'")
    return {"name": name, "moment": MOMENT}


@action(sample)
def decide(request: HttpRequest, caller: Caller, name: str, what: str) -> str:
    if what == "late":
        raise InvalidTransition("it has already been decided")
    if flag(request, "wrong"):
        raise ValidationFailed(f"{number(request, 'many')} is wrong: {text(request, 'reason')}")
    messages.success(request, f"{what} by {caller.actor} via {caller.via}")
    return f"/sample/{name}"


urlpatterns = [path("sample/<str:name>", sample), path("sample/<str:name>/<str:what>", decide), *product]
