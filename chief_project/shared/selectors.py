"""What can be read about principals and from the audit log."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from chief_project.shared.audit import stream_name
from chief_project.shared.caller import Caller, Right, Role, Via
from chief_project.shared.models import ApiToken, AuditEntry, User
from chief_project.shared.paging import Page, Paging, paginate

# What a user may be, the strongest first; a harness is a token and never a person.
ROLES_OF_PEOPLE = (Role.ADMIN, Role.REVIEWER, Role.VIEWER)


@dataclass(frozen=True, slots=True)
class KnownToken:
    """A token that may be used, as it was when it was read."""

    caller: Caller
    expires_at: datetime | None
    last_used_at: datetime | None


def strongest_role(*, groups: set[str], superuser: bool) -> Role | None:
    """A user's role: the strongest of the groups named like one; a superuser is an admin; else none."""
    if superuser:
        return Role.ADMIN
    return next((role for role in ROLES_OF_PEOPLE if role.value in groups), None)


def role_of_user(*, user_id: int) -> Role | None:
    """The role of an active user, or None when the user has none, is inactive or unknown."""
    return _role(User.objects.filter(pk=user_id, is_active=True))


def role_of_any_user(*, user_id: int) -> Role | None:
    """The role of a user, active or not."""
    return _role(User.objects.filter(pk=user_id))


def _role(users: QuerySet[User]) -> Role | None:
    rows = list(users.values_list("is_superuser", "groups__name"))
    if not rows:
        return None
    return strongest_role(groups={name for _, name in rows if name}, superuser=rows[0][0])


def admins_besides(*, user_id: int) -> int:
    """How many other active users are admins."""
    admins = User.objects.filter(Q(is_superuser=True) | Q(groups__name=Role.ADMIN.value), is_active=True)
    return admins.exclude(pk=user_id).distinct().count()


def anybody_exists() -> bool:
    """Whether there is a user at all."""
    return User.objects.exists()


def nobody_signed_in_yet(*, username: str) -> bool:
    """Whether ``username`` can be signed in by a link, and no user has ever signed in."""
    users = User.objects.filter(username=username, is_active=True, last_login__isnull=True)
    return users.exists() and not User.objects.filter(last_login__isnull=False).exists()


def whose_token(*, role: Role) -> str | None:
    """The one active user who is ``role`` or more; None if there is none, or a choice."""
    groups = [each.value for each in ROLES_OF_PEOPLE if weaker(role, each) is role]
    able = User.objects.filter(Q(is_superuser=True) | Q(groups__name__in=groups), is_active=True)
    names = list(able.distinct().values_list("username", flat=True)[:2])
    return names[0] if len(names) == 1 else None


def find_token(*, digest: str, at: datetime, via: Via = "rest") -> KnownToken | None:
    """The token with this digest, if it may be used at ``at``: not revoked, not expired, its user active.

    A user's token never outlives the user's own role: it acts in the weaker of the two. None also for a user who
    has no role any more.
    """
    rows = list(
        ApiToken.objects.filter(digest=digest, revoked_at__isnull=True).values(
            "id",
            "name",
            "kind",
            "relay",
            "expires_at",
            "last_used_at",
            "user_id",
            "user__username",
            "user__is_active",
            "user__is_superuser",
            "user__groups__name",
        )
    )
    if not rows:
        return None
    row = rows[0]
    if row["expires_at"] is not None and row["expires_at"] <= at:
        return None
    role, actor = Role(row["kind"]), row["name"]
    if row["user_id"] is not None:
        groups = {each["user__groups__name"] for each in rows if each["user__groups__name"]}
        own = strongest_role(groups=groups, superuser=row["user__is_superuser"])
        if own is None or not row["user__is_active"]:
            return None
        role, actor = weaker(role, own), row["user__username"]
    return KnownToken(
        caller=Caller(
            actor=actor,
            role=role,
            via=via,
            user_id=row["user_id"],
            token_id=row["id"],
            relay=row["relay"],
        ),
        expires_at=row["expires_at"],
        last_used_at=row["last_used_at"],
    )


def weaker(one: Role, other: Role) -> Role:
    """Of two roles of people, the one that may do less."""
    return max(one, other, key=ROLES_OF_PEOPLE.index)


def name_is_taken(*, name: str) -> bool:
    """Whether a user or a token that isn't revoked is called so, whatever the case."""
    return (
        ApiToken.objects.filter(name__iexact=name, revoked_at__isnull=True).exists()
        or User.objects.filter(username__iexact=name).exists()
    )


def token_document(token: ApiToken) -> dict[str, Any]:
    """What may be said about a token: everything but itself."""
    return {
        "token_id": token.pk,
        "name": token.name,
        "kind": token.kind,
        "relay": token.relay,
        "username": token.user.username if token.user is not None else None,
        "prefix": token.prefix,
        "created_at": token.created_at,
        "created_by": token.created_by,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
        "last_used_at": token.last_used_at,
    }


def list_tokens(*, caller: Caller, paging: Paging, revoked: bool = False) -> Page:
    """``token_document`` of each token that isn't revoked (expired ones are), or of each that is; newest first.

    Two statements at most.
    """
    caller.must(Right.ADMINISTER, "read the tokens")
    tokens = ApiToken.objects.filter(revoked_at__isnull=not revoked).select_related("user")
    return paginate(tokens, order=("-id",), paging=paging).map(token_document)


def token_owners(*, caller: Caller) -> list[tuple[str, Role]]:
    """Active people to whom a token can belong, reviewers and admins, with their role; by name. One statement."""
    caller.must(Right.ADMINISTER, "read whose a token can be")
    groups: dict[str, set[str]] = {}
    supers: set[str] = set()
    rows = User.objects.filter(is_active=True).order_by("username")
    for username, superuser, group in rows.values_list("username", "is_superuser", "groups__name"):
        groups.setdefault(username, set()).add(group or "")
        if superuser:
            supers.add(username)
    roles = {name: strongest_role(groups=held, superuser=name in supers) for name, held in groups.items()}
    return [(name, role) for name, role in roles.items() if role in (Role.ADMIN, Role.REVIEWER)]


def me(*, caller: Caller) -> dict[str, Any]:
    """The caller's principal and rights (contract 2): what may be done, so that nobody has to try."""
    token = None
    if caller.token_id is not None:
        kept = ApiToken.objects.values("name", "kind", "prefix", "expires_at").get(pk=caller.token_id)
        token = {"token_id": caller.token_id} | kept
    return {
        "principal": caller.principal,
        "actor": caller.actor,
        "role": caller.role.value,
        "rights": [right.value for right in Right if caller.may(right)],
        "relay": caller.relay,
        "person": caller.person,
        "signed_in": caller.signed_in,
        "username": caller.actor if caller.user_id is not None else None,
        "token": token,
    }


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are wanted: those that match everything given; ``since`` and ``until`` count in."""

    workflow_id: str | None = None
    run_id: str | None = None
    amendment_id: str | None = None
    event: str | None = None
    actor: str | None = None
    via: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def entries(self) -> QuerySet[AuditEntry]:
        """The rows, in no order."""
        wanted: dict[str, Any] = {
            "workflow_id": self.workflow_id,
            "run_id": self.run_id,
            # Entries with a run_id stand in its stream and nowhere else, and streams have an index.
            "stream": None if self.run_id is None else stream_name(workflow_id=None, run_id=self.run_id),
            "amendment_id": self.amendment_id,
            "event": self.event,
            "actor": self.actor,
            "via": self.via,
            "at__gte": self.since,
            "at__lte": self.until,
        }
        return AuditEntry.objects.filter(
            **{name: value for name, value in wanted.items() if value is not None}
        )


_AUDIT_COLUMNS = (
    "id",
    "at",
    "event",
    "workflow_id",
    "run_id",
    "amendment_id",
    "text",
    "actor",
    "via",
    "prev_hash",
    "hash",
)


def newest_entry() -> int:
    """The id of the audit's newest entry, 0 without any: it moves with everything that is written. One statement."""
    newest: int | None = AuditEntry.objects.order_by("-id").values_list("id", flat=True).first()
    return newest or 0


def registered_by(*, run_id: str) -> str | None:
    """Who registered a run, as its stream's first entry says; for who may read the run. One statement."""
    stream = stream_name(workflow_id=None, run_id=run_id)
    return AuditEntry.objects.filter(stream=stream, position=1).values_list("actor", flat=True).first()


def list_audit(
    *,
    caller: Caller,
    paging: Paging,
    newest_first: bool = False,
    **wanted: Any,
) -> Page:
    """The entries that match ``AuditFilter(**wanted)``, oldest first unless told otherwise (contract 8)."""
    caller.must(Right.OVERSEE, "read the audit log")
    rows = AuditFilter(**wanted).entries().values(*_AUDIT_COLUMNS)
    order = "-id" if newest_first else "id"
    return paginate(rows, order=(order,), paging=paging).map(_audit_document)


def export_audit(*, caller: Caller, wanted: AuditFilter) -> Iterator[dict[str, Any]]:
    """Every entry that matches, oldest first, with what is hashed: the document of ``list_audit`` and ``stream``,
    ``position`` and ``text``.

    ``hash`` is SHA-256 over ``prev_hash`` and ``text``. Read in portions, each a statement of its own, so that neither
    memory nor a snapshot is held however slowly it is taken. What is written meanwhile is left out.
    """
    caller.must(Right.OVERSEE, "export the audit log")
    return _exported(wanted)


_PORTION = 500


def _exported(wanted: AuditFilter) -> Iterator[dict[str, Any]]:
    entries = wanted.entries().order_by("id").values("stream", "position", *_AUDIT_COLUMNS)
    last = entries.order_by("-id").values_list("id", flat=True).first()
    after = 0
    while last is not None and after < last:
        portion = list(entries.filter(id__gt=after, id__lte=last)[:_PORTION])
        for row in portion:
            kept = {"stream": row["stream"], "position": row["position"], "text": row["text"]}
            yield _audit_document(row) | kept
        after = portion[-1]["id"] if portion else last


def _audit_document(row: dict[str, Any]) -> dict[str, Any]:
    """The entry as contract 8 shows it; ``detail`` comes from the text that is hashed."""
    return {
        "id": row["id"],
        "at": row["at"],
        "event": row["event"],
        "workflow_id": row["workflow_id"],
        "run_id": row["run_id"],
        "amendment_id": row["amendment_id"],
        "detail": json.loads(row["text"])["detail"],
        "actor": row["actor"],
        "via": row["via"],
        "prev_hash": row["prev_hash"],
        "hash": row["hash"],
    }
