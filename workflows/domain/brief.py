"""A difference between two plans in a few words' worth: what stands on a card, before anyone opens it. Pure."""

from typing import Any


def brief(difference: dict[str, Any]) -> dict[str, Any]:
    """What ``plan_diff`` found, without the texts.

    ``title`` and ``groups`` whether they changed; ``added`` and ``removed`` as step ids; ``changed`` as ``{step_id,
    fields: [names]}``; ``same``.
    """
    return {
        "title": difference["title"] is not None,
        "added": [step["id"] for step in difference["added"]],
        "removed": [step["id"] for step in difference["removed"]],
        "changed": [
            {"step_id": step["step_id"], "fields": list(step["fields"])} for step in difference["changed"]
        ],
        "groups": any(difference["groups"].values()),
        "same": difference["same"],
    }
