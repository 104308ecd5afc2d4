"""Who calls, through which door, and what that caller may do (contract 9).

Rights live here and nowhere else; every service asks ``caller.must(...)`` first, so the four doors can't differ.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from chief_project.shared.errors import Forbidden

Via = Literal["rest", "mcp", "web", "admin", "cli"]


class Right(StrEnum):
    """What a principal may be allowed to do: the rows of contract 9's table."""

    READ = "read"
    OVERSEE = "oversee"  # read policy and audit
    WORK = "work"  # plan, revise, clone, register, report, ask, propose, withdraw own, templates
    DECIDE = (
        "decide"  # relayed decisions: approve, reject, archive, reopen, cancel, resolve, answer, mark stale
    )
    REVIEW = "review"  # review notes, send back, comments, label, resolve notes, acknowledge
    ADMINISTER = "administer"  # policy, delete, users, tokens


class Role(StrEnum):
    """The kinds of principal; people's roles are Django groups of the same name."""

    VIEWER = "viewer"
    HARNESS = "harness"
    REVIEWER = "reviewer"
    ADMIN = "admin"


RIGHTS: dict[Role, frozenset[Right]] = {
    Role.VIEWER: frozenset({Right.READ, Right.OVERSEE}),
    Role.HARNESS: frozenset({Right.READ, Right.WORK}),
    Role.REVIEWER: frozenset({Right.READ, Right.OVERSEE, Right.WORK, Right.DECIDE, Right.REVIEW}),
    Role.ADMIN: frozenset(Right),
}

_HOW_TO_GAIN: dict[Right, str] = {
    Right.READ: "sign in, or use a token",
    Right.OVERSEE: "use a viewer, reviewer or admin credential",
    Right.WORK: "use a harness token, or sign in as a reviewer",
    Right.DECIDE: "ask a person to decide it, or use a token that was created with --relay",
    Right.REVIEW: "ask a person: a harness can't say this for them",
    Right.ADMINISTER: "ask an admin",
}


@dataclass(frozen=True, slots=True)
class Caller:
    """One authenticated principal on one door.

    ``actor`` is the username or the token's name, whatever a body claims; ``person`` says whether a signed-in
    person (or a token that counts as one) is behind it.
    """

    actor: str
    role: Role
    via: Via
    user_id: int | None = None
    token_id: int | None = None
    relay: bool = False
    signed_in: bool = False

    @property
    def person(self) -> bool:
        """Reviewers' and admins' credentials belong to a user and count as that person, except over MCP."""
        return self.user_id is not None and self.role is not Role.HARNESS and self.via != "mcp"

    @property
    def rights(self) -> frozenset[Right]:
        """The rights of the role, plus relayed decisions when the token was created to relay them."""
        rights = RIGHTS[self.role]
        if self.via == "mcp":  # agents are behind MCP, so nobody's review or administration comes through it
            rights -= {Right.REVIEW, Right.ADMINISTER}
            if not self.relay:
                rights -= {Right.DECIDE}
        return rights | {Right.DECIDE} if self.relay and Right.WORK in rights else rights

    def may(self, right: Right) -> bool:
        """Whether this caller holds ``right``."""
        return right in self.rights

    def must(self, right: Right, doing: str) -> None:
        """Raise ``Forbidden`` naming ``doing`` and the way out unless the caller holds ``right``."""
        if not self.may(right):
            raise Forbidden(
                f"{self.role.value} '{self.actor}' may not {doing}: {_HOW_TO_GAIN[right]}", right=right.value
            )

    def must_be_person(self, doing: str) -> None:
        """Raise ``Forbidden`` naming ``doing`` unless a person calls: no right, and no relaying, stands in for one."""
        if not self.person:
            raise Forbidden(
                f"only a person may {doing}: sign in, or use a reviewer's or admin's own token over REST"
            )

    def claim(self, said: str) -> str:
        """The name to record for ``decided_by`` and its kin: a signed-in person's own, else what was said."""
        return self.actor if self.signed_in else said

    @property
    def principal(self) -> str:
        """A stable key for this principal: scopes idempotency keys and "another principal's" revision.

        Each token is a principal of its own, also one that belongs to a user; commands are one, too.
        """
        if self.token_id is not None:
            return f"token:{self.token_id}"
        return self.via if self.user_id is None else f"user:{self.user_id}"
