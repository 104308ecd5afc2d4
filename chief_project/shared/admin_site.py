"""The admin site's door: admins only, signed in as everywhere else."""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import Forbidden, Unauthenticated
from chief_project.shared.principals import caller_of_session
from chief_project.shared.services.sign_out import sign_out
from chief_project.shared.web.pages import page


def admin_caller(request: HttpRequest) -> Caller:
    """The admin behind a request to this site; ``Unauthenticated`` or ``Forbidden`` for anybody else."""
    caller = caller_of_session(request, via="admin")
    if caller is None:
        raise Unauthenticated("sign in first")
    caller.must(Right.ADMINISTER, "use the admin site")
    return caller


@page("refused.html")
def _enter(request: HttpRequest) -> HttpResponse:
    """To the site, or to sign in; who is signed in and no admin is told so."""
    try:
        admin_caller(request)
    except Unauthenticated:
        wanted = request.GET.get("next") or reverse("admin:index")
        return HttpResponseRedirect(f"{reverse('sign-in')}?{urlencode({'next': wanted})}")
    return HttpResponseRedirect(reverse("admin:index"))


class ChiefAdminSite(AdminSite):
    """Who may enter follows from the role alone: Django's ``is_staff`` and permissions are used for nothing."""

    site_header = "Chief: everything on record"
    site_title = "Chief"
    index_title = "Everything on record"
    site_url = "/"

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        self.disable_action("delete_selected")  # services delete

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether an admin asks."""
        try:
            admin_caller(request)
        except (Unauthenticated, Forbidden):
            return False
        return True

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """There is one way in: the page where everybody signs in, which leads back here."""
        return _enter(request)

    def password_change(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Passwords are changed where everybody changes theirs."""
        return HttpResponseRedirect(reverse("password"))

    def logout(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Sign out as everywhere else."""
        if request.method == "POST":
            sign_out(request=request)
        return HttpResponseRedirect(reverse("sign-in"))
