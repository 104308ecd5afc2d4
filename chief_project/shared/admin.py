"""Principals, the audit log and what else belongs to no single app, as an admin sees it."""

from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from chief_project.shared import models, selectors
from chief_project.shared.admin_records import Record, action, brief, choice
from chief_project.shared.admin_site import admin_caller
from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import ChiefError
from chief_project.shared.services.create_signin_link import create_signin_link
from chief_project.shared.services.create_token import create_token
from chief_project.shared.services.create_user import create_user
from chief_project.shared.services.revoke_token import revoke_token
from chief_project.shared.services.set_active import set_active
from chief_project.shared.services.set_role import set_role

admin.site.unregister(Group)  # a role is given by an action on a user; the groups themselves never change


class NewRecord(Record):
    """A table whose rows are made here too, by a small form and one service."""

    form_class: ClassVar[type[forms.Form]]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whoever may enter the site."""
        return True

    def create(self, request: HttpRequest, caller: Caller, sent: dict[str, Any]) -> HttpResponse:
        """Make the row and answer."""
        raise NotImplementedError

    @method_decorator(never_cache)
    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """The form; what the service refuses stands above it."""
        caller = admin_caller(request)
        form = self.form_class(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            try:
                return self.create(request, caller, form.cleaned_data)
            except ChiefError as problem:
                form.add_error(None, problem.message)
        return self.page(request, "admin/chief_form.html", f"Add {self.opts.verbose_name}", form=form)

    def page(self, request: HttpRequest, template: str, title: str, **context: Any) -> HttpResponse:
        """A page of the admin site about this table."""
        around = self.admin_site.each_context(request)
        return TemplateResponse(request, template, {**around, "title": title, "opts": self.opts, **context})


# -- Users -----------------------------------------------------------------------------------------

PEOPLE = [(role.value, role.value) for role in selectors.ROLES_OF_PEOPLE]


class UserForm(forms.Form):
    """Who, and what they may do."""

    username = forms.CharField(max_length=150)
    role = forms.ChoiceField(choices=PEOPLE)


def _role_action(role: Role | None) -> Any:
    words = "Take the role away" if role is None else f"Make {role.value}"
    return action(
        words,
        lambda caller, user: set_role(caller=caller, user_id=user.pk, role=role),
        done="Took the role of {row} away" if role is None else f"Made {{row}} {role.value}",
    )


@admin.register(models.User)
class UserAdmin(NewRecord):
    """People. Their role is the group of the same name; nothing else decides what they may do."""

    form_class = UserForm
    exclude = ("password", "is_staff", "first_name", "last_name", "email")
    list_display = ("username", "role", "is_active", "last_login", "date_joined")
    list_filter = ("is_active", "groups")
    search_fields = ("username",)
    ordering = ("username",)
    see = (
        ("tokens", "shared_apitoken", "user__id__exact", "pk"),
        ("sign-in links", "shared_signinlink", "user__id__exact", "pk"),
        ("what they did", "shared_auditentry", "actor", "username"),
    )
    actions = (
        "make_signin_link",
        *[_role_action(role) for role in selectors.ROLES_OF_PEOPLE],
        _role_action(None),
        action(
            "Deactivate",
            lambda caller, user: set_active(caller=caller, user_id=user.pk, active=False),
            done="Deactivated {row}: no sign-in and no token works any more",
        ),
        action(
            "Activate",
            lambda caller, user: set_active(caller=caller, user_id=user.pk, active=True),
            done="Activated {row}",
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With their groups."""
        return super().get_queryset(request).prefetch_related("groups")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The columns, and the role."""
        return ["role", *super().get_fields(request, obj)]

    @admin.display(description="role")
    def role(self, user: models.User) -> str:
        """The strongest of their groups."""
        groups = {group.name for group in user.groups.all()}
        role = selectors.strongest_role(groups=groups, superuser=user.is_superuser)
        return "none" if role is None else role.value

    def create(self, request: HttpRequest, caller: Caller, sent: dict[str, Any]) -> HttpResponse:
        """Make the user, and point at what comes next."""
        made = create_user(caller=caller, username=sent["username"], role=Role(sent["role"]))
        self.message_user(
            request,
            f"Made {made['username']}, a {made['role']}: make them a sign-in link, with which they may choose a password.",
            messages.SUCCESS,
        )
        return HttpResponseRedirect(reverse(f"{self.admin_site.name}:shared_user_changelist"))

    @admin.action(description="Make a sign-in link")
    def make_signin_link(self, request: HttpRequest, users: QuerySet[Any]) -> HttpResponse:
        """Show one link for each, this once."""
        caller = admin_caller(request)
        shown = []
        for user in users:
            try:
                made = create_signin_link(caller=caller, username=user.username)
            except ChiefError as problem:
                self.message_user(request, f"Not done for {user}: {problem.message}", messages.ERROR)
            else:
                path = reverse("sign-in-link-page", args=[made["secret"]])
                shown.append((user.username, f"{settings.CHIEF_URL}{path}"))
        hint = "Each works once and for 15 minutes. They are not shown again."
        response = self.page(request, "admin/chief_shown_once.html", "Sign-in links", shown=shown, hint=hint)
        response["Cache-Control"] = "no-store"
        return response


# -- Tokens ----------------------------------------------------------------------------------------


class TokenForm(forms.Form):
    """What ``create_token`` takes."""

    kind = forms.ChoiceField(
        choices=[(role.value, role.value) for role in (Role.HARNESS, Role.VIEWER, Role.REVIEWER, Role.ADMIN)]
    )
    name = forms.CharField(
        max_length=150,
        required=False,
        help_text="What the audit and the policies call it. Left out: its kind.",
    )
    relay = forms.BooleanField(required=False, help_text="A harness may pass on decisions that people made.")
    expires_days = forms.IntegerField(
        required=False, min_value=1, label="Expires after (days)", help_text="Left out: never."
    )
    username = forms.CharField(
        max_length=150,
        required=False,
        label="Of user",
        help_text="For a reviewer's or admin's token, which counts as that person.",
    )


@admin.register(models.ApiToken)
class ApiTokenAdmin(NewRecord):
    """Tokens. What one may do never changes: revoke it and make another."""

    form_class = TokenForm
    exclude = ("digest",)
    list_display = ("name", "kind", "relay", "prefix", "user", "last_used_at", "expires_at", "revoked_at")
    list_filter = (
        choice("kind", [role.value for role in Role]),
        "relay",
        ("revoked_at", admin.EmptyFieldListFilter),
    )
    list_select_related = ("user",)
    search_fields = ("name", "prefix", "user__username", "created_by")
    see = (("what it did", "shared_auditentry", "actor", "name"),)
    actions = (
        action(
            "Revoke",
            lambda caller, token: revoke_token(caller=caller, token_id=token.pk),
            done="Revoked {row}: within seconds nothing takes it any more",
        ),
    )

    def create(self, request: HttpRequest, caller: Caller, sent: dict[str, Any]) -> HttpResponse:
        """Make the token and show it, this once."""
        made = create_token(
            caller=caller,
            kind=sent["kind"],
            name=sent["name"] or None,
            relay=sent["relay"],
            expires_days=sent["expires_days"],
            username=sent["username"] or None,
        )
        shown = [(made["name"], made["token"])]
        hint = "Copy it now: it is not kept and can't be shown again. Send it as 'Authorization: Bearer …'."
        return self.page(request, "admin/chief_shown_once.html", "A new token", shown=shown, hint=hint)


@admin.register(models.SigninLink)
class SigninLinkAdmin(Record):
    exclude = ("digest",)
    list_display = ("user", "created_at", "expires_at", "used_at")
    list_filter = (("used_at", admin.EmptyFieldListFilter),)
    list_select_related = ("user",)
    search_fields = ("user__username",)


@admin.register(models.Preferences)
class PreferencesAdmin(Record):
    list_display = ("user", "time_zone", "language", "theme", "keys")
    list_filter = (choice("theme", ["system", "light", "dark"]),)
    list_select_related = ("user",)
    search_fields = ("user__username",)


# -- The audit ---------------------------------------------------------------------------------------


@admin.register(models.AuditEntry)
class AuditEntryAdmin(Record):
    """The append-only log."""

    list_display = ("at", "event", "workflow_id", "run_id", "amendment_id", "actor", "via", "place")
    list_filter = (choice("via", ["rest", "mcp", "web", "admin", "cli"]),)
    search_fields = ("event", "workflow_id", "run_id", "amendment_id", "actor")
    search_help_text = "An event, an id or an actor."

    @admin.display(description="stream", ordering="stream")
    def place(self, entry: models.AuditEntry) -> str:
        """Where it stands."""
        return f"{entry.stream}#{entry.position}"


@admin.register(models.AuditStream)
class AuditStreamAdmin(Record):
    list_display = ("name", "audit_length", "audit_hash")
    search_fields = ("name",)
    see = (("entries", "shared_auditentry", "stream", "name"),)


# -- The rest ----------------------------------------------------------------------------------------


@admin.register(models.UsedId)
class UsedIdAdmin(Record):
    list_display = ("value", "kind")
    list_filter = (choice("kind", ["workflow", "run", "template"]),)
    search_fields = ("value",)


@admin.register(models.KeptAnswer)
class KeptAnswerAdmin(Record):
    list_display = ("key", "principal", "status", "created_at")
    search_fields = ("key", "principal")


@admin.register(models.ConfigDocument)
class ConfigDocumentAdmin(Record):
    list_display = ("name", "updated_at", "updated_by", brief("document"))
    search_fields = ("name", "updated_by")
