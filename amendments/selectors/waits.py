"""What became of the amendments that somebody waits for: one statement for all of them."""

from collections.abc import Collection

from amendments.domain.waits import AmendmentFacts
from amendments.models import Amendment


def amendment_facts(amendment_ids: Collection[str]) -> dict[str, AmendmentFacts]:
    """Where each amendment stands; those that are gone are missing. For who may read them already."""
    rows = Amendment.objects.filter(amendment_id__in=amendment_ids)
    return {
        amendment_id: AmendmentFacts(status, revision)
        for amendment_id, status, revision in rows.values_list("amendment_id", "status", "run__revision")
    }
