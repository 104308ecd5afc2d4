"""``end_other_sessions``: signed out in every browser but this one."""

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

from chief_project.shared import audit
from chief_project.shared.caller import Caller
from chief_project.shared.clock import now
from chief_project.shared.errors import Unauthenticated
from chief_project.shared.services._user import locked_user


def end_other_sessions(*, caller: Caller, request: HttpRequest) -> int:
    """End the caller's sessions but that of ``request``; answers how many. Without any, nothing is written."""
    if not caller.signed_in or caller.user_id is None:
        raise Unauthenticated("sign in to end your other sessions")
    at = now()
    with transaction.atomic(savepoint=False):
        user = locked_user(caller.user_id)
        # Whose a session is stands only inside it; expired ones are nobody's any more.
        others = [
            session.session_key
            for session in Session.objects.filter(expire_date__gt=at).iterator()
            if session.session_key != request.session.session_key
            and session.get_decoded().get(SESSION_KEY) == str(user.pk)
        ]
        if others:
            Session.objects.filter(session_key__in=others).delete()
            detail = {"username": user.username, "sessions": len(others)}
            audit.record(caller=caller, event="auth.sessions_ended", at=at, detail=detail)
    return len(others)
