"""``one_moment``: several statements that see the database as of one moment, and hold no writer up."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, connections

from chief_project.shared.reading import one_moment
from runs.models import Run
from tests.plans import task
from tests.run_rows import THEN, run_row


def _revision() -> int:
    return int(Run.objects.values_list("revision", flat=True).get(run_id="r1"))


@pytest.mark.django_db(transaction=True)
def test_a_write_in_between_is_neither_seen_nor_held_up() -> None:
    run_row(task("a"))

    def write() -> None:
        Run.objects.filter(run_id="r1").update(revision=2, updated_at=THEN + timedelta(seconds=1))
        connections.close_all()

    with one_moment():
        assert _revision() == 1
        writer = threading.Thread(target=write)
        writer.start()
        writer.join(timeout=60)
        assert not writer.is_alive()
        assert _revision() == 1
    assert _revision() == 2
    assert connection.get_autocommit()


@pytest.mark.django_db(transaction=True)
def test_it_ends_also_when_the_read_is_refused() -> None:
    run_row(task("a"))
    with pytest.raises(Run.DoesNotExist), one_moment():
        Run.objects.get(run_id="nowhere")
    Run.objects.filter(run_id="r1").update(revision=3)
    assert _revision() == 3
