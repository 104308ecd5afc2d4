"""What became of the amendments that somebody waits for, and whether anything changed at all."""

import time
from collections.abc import Collection

from amendments.domain.waits import AmendmentFacts, NewsFacts
from amendments.models import Amendment
from amendments.selectors.waiting import count_waiting_by_project
from chief_project.shared.caller import Caller, Role
from chief_project.shared.selectors import newest_entry


def amendment_facts(amendment_ids: Collection[str]) -> dict[str, AmendmentFacts]:
    """Where each amendment stands; those that are gone are missing. For who may read them already. One statement."""
    rows = Amendment.objects.filter(amendment_id__in=amendment_ids)
    return {
        amendment_id: AmendmentFacts(status, revision)
        for amendment_id, status, revision in rows.values_list("amendment_id", "status", "run__revision")
    }


class NewsReader:
    """The facts of the whole instance, under whatever name: one statement, and three more when something changed.

    They are counted anew every few seconds, too: transactions don't end in the order in which they took their ids.
    """

    def __init__(self, *, counted_anew: float = 3.0) -> None:
        self._counted_anew = counted_anew
        self._until = 0.0
        self._known = NewsFacts(entry=-1, waiting=0)

    def __call__(self, names: Collection[str]) -> dict[str, NewsFacts]:
        entry = newest_entry()
        if entry != self._known.entry or time.monotonic() >= self._until:
            self._known = NewsFacts(entry, _count(_LOOK_OUT))
            self._until = time.monotonic() + self._counted_anew
        return dict.fromkeys(names, self._known)


def get_news(*, caller: Caller) -> NewsFacts:
    """Where the whole instance stands, for whoever may read it: four statements."""
    return NewsFacts(newest_entry(), _count(caller))


def _count(caller: Caller) -> int:
    return sum(count_waiting_by_project(caller=caller).values())


_LOOK_OUT = Caller(
    actor="look-out", role=Role.VIEWER, via="web"
)  # those it looks for may read, or they'd not wait
