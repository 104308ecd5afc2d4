"""The admin site: everything can be looked at and searched; what changes something goes through services."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from amendments.models import Amendment
from chief_project.shared import principals, selectors
from chief_project.shared.caller import Caller, Role
from chief_project.shared.models import ApiToken, AuditEntry, SigninLink, User
from runs.models import Run
from runs.services.register_run import register_run
from tests.amendments import insert_after, propose
from tests.plans import checkpoint, parallel, task
from tests.runs import new_run, report
from tests.workflows import new_approved, new_draft
from workflows.models import Workflow

APPS = ("shared", "workflows", "runs", "amendments")
MODELS = [model for app in APPS for model in apps.get_app_config(app).get_models()]
NASTY = '<script>alert("x")</script>'


def url(model: Any, page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def site(owner: User) -> Client:
    """A browser in which the owner is signed in."""
    return client_of(owner)


@pytest.fixture
def work(admin: Caller, harness: Caller) -> str:
    """Something in most tables; texts from a harness that try to be markup. The run's id."""
    new_approved(
        admin,
        task("a", goal=NASTY, criteria=[NASTY]),
        checkpoint("ok", depends_on=["a"], fields=[{"name": "why"}]),
        parallel("spread", ["each"], instance_params=[{"name": "seed"}]),
        task("each", group="g"),
        workflow_id="wf_1",
        title=NASTY,
        groups=[{"path": "g", "description": NASTY}],
    )
    register_run(caller=harness, workflow_id="wf_1", run_id="run_1", metadata={"note": NASTY})
    return "run_1"


def do(client: Client, model: Any, action: str, *rows: Any) -> str:
    """Run an action on rows and give the page that follows."""
    sent = {"action": action, "_selected_action": [row.pk for row in rows]}
    return client.post(url(model, "changelist"), sent, follow=True).content.decode()


def decide(client: Client, model: Any, action: str, *rows: Any, reason: str = "") -> str:
    """Go through the page of a decision as a person would: read, say why, press."""
    page = client.post(
        url(model, "changelist"), {"action": action, "_selected_action": [row.pk for row in rows]}
    )
    assert page.status_code == 200
    sent = {
        "action": action,
        "decided": "yes",
        "reason": reason,
        "_selected_action": [row.pk for row in rows],
    }
    for each in page.context["decided"]:
        sent[f"seen_{each['row'].pk}"] = each["seen"]
    return client.post(url(model, "changelist"), sent, follow=True).content.decode()


def last_entry() -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(AuditEntry.objects.latest("id").text)
    return entry


# -- Who gets in -------------------------------------------------------------------------------------


def test_strangers_are_sent_to_sign_in_and_back(client: Client, db: None) -> None:
    answer = client.get(url(AuditEntry, "changelist"), follow=True)
    assert answer.redirect_chain[-1][0] == "/signin?next=%2Fadmin%2Fshared%2Fauditentry%2F"


@pytest.mark.parametrize("who", ["rita", "vic"])
def test_only_admins_get_in_whatever_else_a_user_is(who: str, request: pytest.FixtureRequest) -> None:
    user: User = request.getfixturevalue(who)
    user.is_staff = True
    user.save()
    client = client_of(user)
    for page in (reverse("admin:index"), url(AuditEntry, "changelist"), url(ApiToken, "add")):
        answer = client.get(page, follow=True)
        assert answer.status_code == 403, page
        assert b"Everything on record" not in answer.content


def test_no_token_opens_the_admin_site(owner: User, make_token: Any) -> None:
    token = make_token("admin", username="owner")
    answer = Client().get(reverse("admin:index"), headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 302


def test_leaving_signs_out_as_everywhere_else(site: Client) -> None:
    assert site.post(reverse("admin:logout"))["Location"] == "/signin"
    assert last_entry()["event"] == "auth.signed_out"
    assert site.get("/")["Location"].startswith("/signin")


def test_passwords_are_changed_on_chiefs_own_page(site: Client) -> None:
    assert site.get(reverse("admin:password_change"))["Location"] == "/password"


# -- Looking -----------------------------------------------------------------------------------------


def test_every_table_is_there() -> None:
    assert {model for model in MODELS if not admin.site.is_registered(model)} == set()
    foreign = {model._meta.label for model in admin.site._registry} - {model._meta.label for model in MODELS}
    assert foreign == set()


def test_every_table_lists_and_searches_and_shows_a_row(site: Client, work: str) -> None:
    for model in MODELS:
        for query in ({}, {"q": "a"}, {"q": "nothing like it ever"}, {"q": '"'}):
            assert site.get(url(model, "changelist"), query).status_code == 200, (model, query)
        row = model._default_manager.first()
        if row is not None:
            page = site.get(url(model, "change", row.pk))
            assert page.status_code == 200, model
            assert 'name="_save"' not in page.content.decode(), model
        assert site.get(url(model, "change", "999999"), follow=True).status_code == 200, model
        assert site.get(url(model, "change", "a\0b"), follow=True).status_code == 200, model


def test_every_table_has_a_search() -> None:
    for model in MODELS:
        assert admin.site.get_model_admin(model).search_fields, model


def test_every_filter_works(site: Client, work: str) -> None:
    seen = 0
    for model in MODELS:
        changes = site.get(url(model, "changelist")).context["cl"]
        for spec in changes.filter_specs:
            for chosen in spec.choices(changes):
                answer = site.get(url(model, "changelist") + chosen["query_string"])
                assert answer.status_code == 200, (model, chosen)
                seen += 1
    assert seen > 50


def test_every_link_from_a_row_leads_somewhere(site: Client, work: str) -> None:
    seen = 0
    for model in MODELS:
        record = admin.site.get_model_admin(model)
        row = model._default_manager.first()
        for _, table, lookup, own in getattr(record, "see", ()):
            answer = site.get(
                reverse(f"admin:{table}_changelist"), {lookup: getattr(row, own) if row is not None else 1}
            )
            assert answer.status_code == 200, (model, table, lookup)
            seen += 1
    assert seen > 20


def test_a_list_takes_the_same_statements_for_more_rows(
    site: Client, work: str, admin: Caller, harness: Caller
) -> None:
    def statements() -> dict[str, int]:
        counts = {}
        for model in MODELS:
            with CaptureQueriesContext(connection) as seen:
                assert site.get(url(model, "changelist")).status_code == 200
            counts[model._meta.label] = len(seen)
        return counts

    few = statements()
    for number in range(3):
        new_approved(admin, "x", task("y", depends_on=["x"], criteria=["z"]), workflow_id=f"more_{number}")
        register_run(caller=harness, workflow_id=f"more_{number}", run_id=f"more_{number}")
    assert statements() == few
    assert max(few.values()) <= 8


def test_what_a_harness_wrote_is_text_and_no_markup(site: Client, work: str) -> None:
    for model in MODELS:
        pages = [site.get(url(model, "changelist"))]
        pages += [site.get(url(model, "change", row.pk)) for row in model._default_manager.all()[:5]]
        for page in pages:
            assert NASTY.encode() not in page.content, model


def test_secrets_are_nowhere(site: Client, admin: Caller, harness_token: str) -> None:
    token = ApiToken.objects.get()
    for page in (url(ApiToken, "changelist"), url(ApiToken, "change", token.pk)):
        text = site.get(page).content.decode()
        assert token.prefix in text
        assert token.digest not in text
        assert harness_token not in text
    user = User.objects.get(username="owner")
    assert user.password not in site.get(url(User, "change", user.pk)).content.decode()


def test_pages_run_under_the_strict_policy(site: Client, work: str) -> None:
    for page in (reverse("admin:index"), url(Workflow, "changelist"), url(ApiToken, "add")):
        answer = site.get(page)
        assert "unsafe" not in answer["Content-Security-Policy"]
        text = answer.content.decode()
        assert " style=" not in text
        assert "<style" not in text
        assert "javascript:" not in text
        assert not any("<script>" in line for line in text.splitlines())


# -- Not writing -------------------------------------------------------------------------------------


def test_no_row_is_added_changed_or_deleted_here(site: Client, work: str) -> None:
    for model in MODELS:
        row = model._default_manager.first()
        count = model._default_manager.count()
        if model not in (User, ApiToken):
            assert site.get(url(model, "add")).status_code == 403, model
            assert site.post(url(model, "add"), {}).status_code == 403, model
        if row is not None:
            before = model._default_manager.filter(pk=row.pk).values().get()
            assert site.post(url(model, "change", row.pk), {"title": "other"}).status_code == 403, model
            assert site.get(url(model, "delete", row.pk)).status_code == 403, model
            assert site.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403, model
            do(site, model, "delete_selected", row)
            assert model._default_manager.filter(pk=row.pk).values().get() == before
        assert model._default_manager.count() == count
    assert not LogEntry.objects.exists()


def test_a_row_shows_times_with_their_zone_and_no_log_but_the_audit(site: Client, work: str) -> None:
    run = Run.objects.get(run_id=work)
    page = site.get(url(Run, "change", run.pk)).content.decode()
    assert f"{run.created_at:%Y-%m-%d %H:%M:%S} UTC" in page
    assert url(Run, "history", run.pk) not in page
    assert "chief/favicon.svg" in page
    assert "chief/admin.css" in page
    index = site.get(reverse("admin:index")).content.decode()
    assert "Recent actions" not in index
    assert "Dependencies" in index
    assert "Criteria" in index


# -- Acting ------------------------------------------------------------------------------------------


def test_a_decision_is_shown_before_it_is_made(site: Client, admin: Caller) -> None:
    new_draft(admin, workflow_id="wf_1", title=NASTY)
    row = Workflow.objects.get()
    page = do(site, Workflow, "approve", row)
    assert "draft, version 1, revision 1, 2 steps" in page
    assert f"/admin/workflows/step/?plan__id__exact={row.plan_id}" in page
    assert NASTY not in page
    assert Workflow.objects.get().status == "draft"


def test_approving_goes_through_the_service(site: Client, admin: Caller) -> None:
    new_draft(admin, workflow_id="wf_1")
    assert "Approved wf_1" in decide(site, Workflow, "approve", Workflow.objects.get(), reason="Good")
    row = Workflow.objects.get()
    assert (row.status, row.decided_by) == ("approved", "owner")
    entry = last_entry()
    assert (entry["event"], entry["actor"], entry["via"]) == ("workflow.approved", "owner", "admin")
    assert entry["detail"]["reason"] == "Good"


def test_an_approval_holds_for_the_revision_that_was_shown(site: Client, admin: Caller) -> None:
    new_draft(admin, workflow_id="wf_1")
    row = Workflow.objects.get()
    sent = {"action": "approve", "decided": "yes", "_selected_action": [row.pk], f"seen_{row.pk}": "2"}
    page = site.post(url(Workflow, "changelist"), sent, follow=True).content.decode()
    assert "Not done for wf_1: you would approve revision 2" in page
    assert Workflow.objects.get().status == "draft"


def test_a_decision_that_is_refused_says_why_and_the_others_go_on(site: Client, admin: Caller) -> None:
    new_approved(admin, workflow_id="wf_1")
    new_draft(admin, workflow_id="wf_2")
    page = decide(site, Workflow, "approve", *Workflow.objects.all())
    assert "Approved wf_2" in page
    assert "Not done for wf_1: " in page
    assert len(AuditEntry.objects.filter(event="workflow.approved")) == 2


@pytest.mark.parametrize(
    ("action", "event", "said"),
    [
        ("archive", "workflow.archived", "Archived wf_1"),
        ("send_back", "workflow.sent_back", "Sent wf_1 back"),
    ],
)
def test_the_other_decisions_on_a_plan_go_through_services(
    action: str, event: str, said: str, site: Client, admin: Caller
) -> None:
    new_draft(admin, workflow_id="wf_1")
    assert said in decide(site, Workflow, action, Workflow.objects.get(), reason="Because")
    assert (last_entry()["event"], last_entry()["via"]) == (event, "admin")


@pytest.mark.parametrize(
    ("action", "status", "said"), [("approve", "approved", "Approved"), ("reject", "rejected", "Rejected")]
)
def test_an_amendment_is_decided_through_the_service(
    action: str, status: str, said: str, site: Client, admin: Caller, harness: Caller
) -> None:
    new_run(admin, "a")
    propose(harness, insert_after("a", task("b")))
    row = Amendment.objects.get()
    assert f"proposed by {row.proposed_by}" in do(site, Amendment, action, row)
    assert said in decide(site, Amendment, action, row, reason="Because")
    row.refresh_from_db()
    assert (row.status, row.decided_by, row.decided_via) == (status, "owner", "admin")
    assert last_entry()["event"] == f"amendment.{status}"


def test_a_failed_run_is_acknowledged_through_the_service(site: Client, admin: Caller) -> None:
    new_run(admin, "a")
    assert "Not done for r1: " in do(site, Run, "acknowledge_as_failed", Run.objects.get())
    report(admin, "a", status="failed")
    assert "Acknowledged r1" in do(site, Run, "acknowledge_as_failed", Run.objects.get())
    assert last_entry()["event"] == "run.acknowledged"


def test_a_token_is_made_by_a_form_and_shown_once(site: Client) -> None:
    assert site.get(url(ApiToken, "add")).status_code == 200
    answer = site.post(
        url(ApiToken, "add"), {"kind": "harness", "name": "planner", "relay": "on", "expires_days": "3"}
    )
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    text = answer.content.decode()
    token = text[text.index("chf_") :].split("<")[0]
    caller = principals.caller_of_token(token)
    assert (caller.actor, caller.relay) == ("planner", True)
    assert (last_entry()["event"], last_entry()["via"]) == ("auth.token_created", "admin")
    assert token not in site.get(url(ApiToken, "changelist")).content.decode()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"kind": "viewer", "relay": "on"}, "relay is for harness tokens"),
        ({"kind": "reviewer"}, "say whose it is"),
        ({"kind": "reviewer", "username": "nobody"}, "no active user is called"),
        ({"kind": "harness", "name": "owner"}, "in use"),
        ({"kind": "harness", "expires_days": "0"}, "greater than or equal to 1"),
        ({"kind": "root"}, "Select a valid choice"),
    ],
)
def test_a_token_that_cant_be_is_refused_above_the_form(
    sent: dict[str, str], said: str, site: Client
) -> None:
    text = site.post(url(ApiToken, "add"), sent).content.decode()
    assert said in text
    assert 'name="kind"' in text
    assert not ApiToken.objects.exists()


def test_revoking_a_token_goes_through_the_service(site: Client, harness_token: str) -> None:
    token = ApiToken.objects.get()
    assert "Revoked planner" in do(site, ApiToken, "revoke", token)
    assert ApiToken.objects.get().revoked_at is not None
    assert last_entry()["event"] == "auth.token_revoked"
    assert "revoked already" in do(site, ApiToken, "revoke", token)


def test_a_user_is_made_by_a_form_with_a_role(site: Client) -> None:
    text = site.post(url(User, "add"), {"username": "ines", "role": "reviewer"}, follow=True).content.decode()
    assert "Made ines, a reviewer" in text
    user = User.objects.get(username="ines")
    assert selectors.role_of_user(user_id=user.pk) is Role.REVIEWER
    assert (last_entry()["event"], last_entry()["via"]) == ("auth.user_created", "admin")
    again = site.post(url(User, "add"), {"username": "Ines", "role": "viewer"})
    assert "in use" in again.content.decode()
    assert User.objects.count() == 2


def test_roles_are_given_and_taken_by_actions(site: Client, rita: User, owner: User) -> None:
    assert "Made rita admin" in do(site, User, "make_admin", rita)
    assert selectors.role_of_user(user_id=rita.pk) is Role.ADMIN
    assert last_entry()["detail"] == {
        "username": "rita",
        "role": "admin",
        "role_was": "reviewer",
        "via": "admin",
    }
    do(site, User, "take_the_role_away", rita)
    assert selectors.role_of_user(user_id=rita.pk) is None
    assert "only active admin" in do(site, User, "make_viewer", owner)
    assert selectors.role_of_user(user_id=owner.pk) is Role.ADMIN


def test_a_deactivated_user_is_out_until_activated(site: Client, rita: User) -> None:
    browser = client_of(rita)
    do(site, User, "deactivate", rita)
    assert browser.get("/")["Location"].startswith("/signin")
    do(site, User, "activate", rita)
    rita.refresh_from_db()
    assert rita.is_active
    events = AuditEntry.objects.order_by("-id").values_list("event", flat=True)[:2]
    assert list(events) == ["auth.user_activated", "auth.user_deactivated"]


def test_a_signin_link_is_made_by_an_action_and_shown_once(site: Client, rita: User) -> None:
    text = do(site, User, "make_signin_link", rita)
    secret = text[text.index("/signin/link/") :].removeprefix("/signin/link/").split("<")[0]
    assert SigninLink.objects.get().user == rita
    browser = Client()
    browser.post("/signin/link", {"secret": secret})
    assert browser.get("/v1/me").json()["actor"] == "rita"


def test_an_action_by_someone_who_lost_the_role_meanwhile_does_nothing(
    site: Client, owner: User, rita: User
) -> None:
    owner.groups.clear()
    answer = site.post(
        url(User, "changelist"), {"action": "make_admin", "_selected_action": [rita.pk]}, follow=True
    )
    assert answer.status_code == 403
    assert selectors.role_of_user(user_id=rita.pk) is Role.REVIEWER


@pytest.mark.parametrize(
    "query",
    [
        {"q": "a " * 1500},
        {"q": "'" * 9999},
        {"q": "\0"},
        {"id__regex": "("},
        {"id__exact": "x"},
        {"id__exact": "9" * 30},
        {"workflow_id": "\0"},
        {"status": "\0"},
        {"status": "nope"},
        {"p": "-1"},
        {"o": "99"},
        {"_to_field": "password"},
    ],
)
def test_no_query_breaks_a_list(site: Client, work: str, query: dict[str, str]) -> None:
    for model in MODELS:
        if model._meta.pk.name == "id" or "id__exact" not in query:
            assert site.get(url(model, "changelist"), query).status_code in (200, 302, 400, 422), model


@pytest.mark.parametrize(
    ("model", "lookup"),
    [(User, "password__startswith"), (ApiToken, "digest__startswith"), (User, "password")],
)
def test_what_a_list_hides_cant_be_guessed_with_a_filter(site: Client, model: Any, lookup: str) -> None:
    assert site.get(url(model, "changelist"), {lookup: "a"}).status_code == 422


@pytest.mark.parametrize("selected", ["x", "\0", "1 or 1", ""])
def test_an_action_on_a_row_that_cant_be_does_nothing_and_says_so(
    site: Client, admin: Caller, selected: str
) -> None:
    new_draft(admin, task("a"), workflow_id="wf_1")
    sent = {"action": "approve", "decided": "yes", "_selected_action": selected}
    answer = site.post(url(Workflow, "changelist"), sent, follow=True)
    assert "Nothing was done" in answer.content.decode()
    assert Workflow.objects.get(workflow_id="wf_1").status == "draft"


def test_a_reason_is_text_that_any_database_keeps(site: Client, admin: Caller) -> None:
    new_draft(admin, task("a"), workflow_id="wf_1")
    pk = Workflow.objects.get(workflow_id="wf_1").pk
    sent = {"action": "archive", "decided": "yes", "_selected_action": pk, "reason": "no\0 longer"}
    site.post(url(Workflow, "changelist"), sent)
    entry = AuditEntry.objects.get(event="workflow.archived")
    assert json.loads(entry.text)["detail"]["reason"] == "no longer"
