"""Who acts in the demo: the owner, a reviewer, and harnesses with tokens of their own."""

from chief_project.bootstrap import CLI
from chief_project.demo.stage import Cast, Scene, Stage, ago
from chief_project.shared import clock, selectors
from chief_project.shared.caller import Caller, Role, Via
from chief_project.shared.models import ApiToken, User
from chief_project.shared.services.create_token import create_token
from chief_project.shared.services.create_user import create_user
from chief_project.shared.services.mark_token_used import mark_token_used
from chief_project.shared.services.revoke_token import revoke_token

REVIEWER = "reviewer"
_DOORS: dict[str, Via] = {"claude-code": "mcp", "codex": "rest", "planner": "rest"}


def gather(owner: User) -> Cast:
    """The cast, made where it isn't there yet. People act as if in the browser, harnesses as if through their doors.

    Raises ``Conflict`` if a user or a token of another kind has one of the names.
    """
    if not User.objects.filter(username=REVIEWER).exists():
        create_user(caller=CLI, username=REVIEWER, role=Role.REVIEWER)
    return Cast(
        owner=_person(owner),
        reviewer=_person(User.objects.get(username=REVIEWER)),
        harnesses={name: _harness(name, via) for name, via in _DOORS.items()},
    )


def _person(user: User) -> Caller:
    role = selectors.role_of_user(user_id=user.pk)
    assert role is not None, f"{user.username} has no role"
    return Caller(actor=user.username, role=role, via="web", user_id=user.pk, signed_in=True)


def _harness(name: str, via: Via) -> Caller:
    token = ApiToken.objects.filter(name=name, kind=Role.HARNESS, revoked_at=None).first()
    token_id = token.pk if token else create_token(caller=CLI, kind=Role.HARNESS, name=name)["token_id"]
    return Caller(actor=name, role=Role.HARNESS, via=via, token_id=token_id)


def other_tokens(stage: Stage) -> Scene:
    """One for a screen on the wall, one that has expired, one that was revoked."""
    yield ago(d=20, h=3)
    made = [
        create_token(caller=stage.owner, kind=kind, name=_free(name), expires_days=days, relay=relay)
        for kind, name, days, relay in (
            (Role.VIEWER, "screen on the wall", 90, False),
            (Role.HARNESS, "nightly import", 14, False),
            (Role.HARNESS, "old laptop", None, True),
        )
    ]
    yield ago(d=11, h=2)
    revoke_token(caller=stage.owner, token_id=made[2]["token_id"])


def tokens_in_use(stage: Stage) -> Scene:
    """When each harness was last heard of."""
    for caller, moment in ((stage.planner, ago(m=24)), (stage.claude, ago(m=18)), (stage.codex, ago(m=3))):
        yield moment
        assert caller.token_id is not None
        mark_token_used(token_id=caller.token_id, at=clock.now())


def _free(name: str) -> str:
    """``name``, numbered where it is taken."""
    number, free = 1, name
    while selectors.name_is_taken(name=free):
        number += 1
        free = f"{name} {number}"
    return free


SCENES = (other_tokens, tokens_in_use)
