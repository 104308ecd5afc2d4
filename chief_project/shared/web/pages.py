"""How a view becomes a page: a dict is what its template needs, a refusal becomes the same page with the reason."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from chief_project.shared.errors import ChiefError

View = Callable[..., HttpResponse]


def page(
    template: str, *, keep: tuple[str, ...] = ()
) -> Callable[[Callable[..., dict[str, Any] | HttpResponse]], View]:
    """Make a view of a function that answers a dict for ``template``, or a whole response.

    A ``ChiefError`` shows the template again, with ``problem``, its status, and the fields named in ``keep`` as they
    were sent.
    """

    def decorate(function: Callable[..., dict[str, Any] | HttpResponse]) -> View:
        @never_cache
        @wraps(function)
        def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            status = 200
            try:
                answer = function(request, *args, **kwargs)
            except ChiefError as problem:
                answer = {"problem": problem} | {name: request.POST.get(name, "") for name in keep}
                status = problem.status
            if isinstance(answer, HttpResponse):
                return answer
            return render(request, template, {"version": settings.CHIEF_VERSION} | answer, status=status)

        return view

    return decorate
