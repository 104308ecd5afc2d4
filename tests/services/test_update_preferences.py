"""A person's own time zone, language, theme, keys and notifications: kept for them alone, and unaudited."""

import pytest
from django.contrib.auth import get_user_model

from amendments.selectors.waiting import _KINDS
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, ValidationFailed
from chief_project.shared.models import AuditEntry
from chief_project.shared.models import Preferences as Row
from chief_project.shared.preferences import (
    NOTIFIABLE,
    Preferences,
    preferences_of,
    preferences_of_user,
    time_zones,
)
from chief_project.shared.services.update_preferences import update_preferences
from tests.refusals import refused

pytestmark = pytest.mark.django_db


def test_who_chose_nothing_has_the_defaults(viewer: Caller, harness: Caller) -> None:
    assert preferences_of(caller=viewer) == Preferences(
        time_zone=None, language=None, theme="system", keys=True, notify=frozenset()
    )
    assert preferences_of(caller=harness) == preferences_of_user(None) == Preferences()


def test_what_was_chosen_is_kept_for_this_person_and_unaudited(viewer: Caller, reviewer: Caller) -> None:
    entries = AuditEntry.objects.count()
    chosen = update_preferences(
        caller=viewer,
        time_zone="Europe/Berlin",
        language="de",
        theme="dark",
        keys=False,
        notify=["question", "amendment"],
    )
    assert chosen == preferences_of(caller=viewer)
    assert chosen == Preferences(
        time_zone="Europe/Berlin",
        language="de",
        theme="dark",
        keys=False,
        notify=frozenset({"amendment", "question"}),
    )
    assert preferences_of(caller=reviewer) == Preferences()
    assert AuditEntry.objects.count() == entries


def test_choosing_again_replaces_everything(viewer: Caller) -> None:
    update_preferences(caller=viewer, time_zone="Asia/Tokyo", theme="light", notify=["draft"])
    assert update_preferences(caller=viewer, language="en") == Preferences(language="en")
    assert Row.objects.count() == 1


def test_only_people_have_preferences(harness: Caller) -> None:
    with refused(Forbidden, "only a person may choose"):
        update_preferences(caller=harness)
    assert not Row.objects.exists()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"time_zone": "Mars/Olympus"}, "time zone 'Mars/Olympus' is unknown here: use an IANA name"),
        ({"time_zone": "../../etc/passwd"}, "is unknown here"),
        ({"language": "fr"}, "language 'fr' is unknown: use one of en, de"),
        ({"theme": "pink"}, "theme 'pink' is unknown: use one of system, light, dark"),
        ({"notify": ["draft", "mail"]}, "notify 'mail' is unknown: use one of draft, amendment"),
    ],
)
def test_what_is_unknown_is_refused_and_nothing_written(
    viewer: Caller, said: dict[str, object], problem: str
) -> None:
    with refused(ValidationFailed, problem):
        update_preferences(caller=viewer, **said)  # type: ignore[arg-type]
    assert not Row.objects.exists()


def test_a_zone_that_this_machine_does_not_know_reads_as_none_chosen(viewer: Caller) -> None:
    Row.objects.create(user_id=viewer.user_id, time_zone="Europe/Gone", language="xx", notify=["gone"])
    assert preferences_of(caller=viewer) == Preferences()


def test_the_zones_are_names_a_person_could_choose() -> None:
    assert {"UTC", "Europe/Berlin", "America/New_York"} <= time_zones()
    assert not {"Factory", "localtime"} & time_zones()


def test_the_kinds_are_those_that_wait() -> None:
    assert NOTIFIABLE == _KINDS


def test_preferences_go_with_their_person(viewer: Caller) -> None:
    update_preferences(caller=viewer)
    get_user_model().objects.get(pk=viewer.user_id).delete()
    assert not Row.objects.exists()
