"""The admin site's door: admins only, signed in as everywhere else."""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from chief_project.shared.auth import caller_of_session
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import ChiefError, Forbidden, Unauthenticated
from chief_project.shared.services.sign_out import sign_out


def admin_caller(request: HttpRequest) -> Caller:
    """The admin behind a request to this site; ``Unauthenticated`` or ``Forbidden`` for anybody else."""
    caller = caller_of_session(request, via="admin")
    if caller is None:
        raise Unauthenticated("sign in first")
    caller.must(Right.ADMINISTER, "use the admin site")
    return caller


class ChiefAdminSite(AdminSite):
    """Who may enter follows from the role alone: Django's ``is_staff`` and permissions are used for nothing."""

    site_header = "Chief: everything on record"
    site_title = "Chief"
    index_title = "Everything on record"
    site_url = "/"
    enable_nav_sidebar = True

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether an admin asks."""
        try:
            admin_caller(request)
        except (Unauthenticated, Forbidden):
            return False
        return True

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """There is one way in: the page where everybody signs in, which leads back here."""
        try:
            admin_caller(request)
        except Unauthenticated:
            wanted = request.GET.get("next") or reverse("admin:index")
            return HttpResponseRedirect(f"{reverse('sign-in')}?{urlencode({'next': wanted})}")
        return HttpResponseRedirect(reverse("admin:index"))

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Sign out as everywhere else."""
        if request.method == "POST":
            sign_out(request=request)
        return HttpResponseRedirect(reverse("sign-in"))


def said(problem: ChiefError) -> str:
    """A refusal as a message on a page."""
    return problem.message
