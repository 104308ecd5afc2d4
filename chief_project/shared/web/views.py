"""Signing in and out. Nothing here is written by a GET, so whoever previews a link doesn't spend it."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chief_project.shared.principals import caller_of_session
from chief_project.shared.services.change_own_password import change_own_password
from chief_project.shared.services.sign_in_with_link import sign_in_with_link
from chief_project.shared.services.sign_in_with_password import sign_in_with_password
from chief_project.shared.services.sign_out import sign_out
from chief_project.shared.web.pages import page


def _next(request: HttpRequest, wanted: str) -> str:
    """Where to go after signing in: a page of this site only, else home."""
    hosts = {request.get_host()}
    safe = url_has_allowed_host_and_scheme(wanted, allowed_hosts=hosts, require_https=request.is_secure())
    return wanted if safe else reverse("home")


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@page("sign_in.html", keep=("username", "next"))
def sign_in_view(request: HttpRequest) -> dict[str, Any] | HttpResponse:
    """The form, and what it sends."""
    if request.method == "POST":
        sign_in_with_password(
            request=request,
            username=request.POST.get("username", ""),
            password=request.POST.get("password", ""),
        )
        return HttpResponseRedirect(_next(request, request.POST.get("next", "")))
    return {"next": _next(request, request.GET.get("next", "")), "username": ""}


@require_safe
@page("sign_in_link.html")
def sign_in_link_page(request: HttpRequest, secret: str) -> dict[str, Any] | HttpResponse:
    """A button that spends the link; whether the link is good is known when it is pressed."""
    return {"secret": secret}


@sensitive_post_parameters("secret")
@require_POST
@page("sign_in_link.html")
def sign_in_link_view(request: HttpRequest) -> dict[str, Any] | HttpResponse:
    """Spend the link."""
    sign_in_with_link(request=request, secret=request.POST.get("secret", ""))
    return HttpResponseRedirect(reverse("home"))


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@page("password.html")
def password_view(request: HttpRequest) -> dict[str, Any] | HttpResponse:
    """The form in which people choose their password."""
    caller = caller_of_session(request, via="web")
    if caller is None:
        return HttpResponseRedirect(f"{reverse('sign-in')}?{urlencode({'next': request.path})}")
    if request.method == "POST":
        change_own_password(
            caller=caller,
            request=request,
            old=request.POST.get("old", ""),
            new=request.POST.get("new", ""),
            again=request.POST.get("again", ""),
        )
        return HttpResponseRedirect(reverse("home"))
    return {}


def too_many_tries(request: HttpRequest, response: HttpResponse, credentials: object) -> HttpResponse:
    """django-axes' hook: the form has said it already."""
    return response


@require_POST
@page("refused.html")
def sign_out_view(request: HttpRequest) -> dict[str, Any] | HttpResponse:
    """End the session."""
    sign_out(request=request)
    return HttpResponseRedirect(reverse("sign-in"))
