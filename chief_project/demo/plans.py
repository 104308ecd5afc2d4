"""The plans of the demo, as the documents a harness would submit."""

from typing import Any

Document = dict[str, Any]


def _task(step_id: str, goal: str, *needs: str, harness: str = "builder", **keys: Any) -> Document:
    return {
        "id": step_id,
        "type": "task",
        "goal": goal,
        "harness": harness,
        "depends_on": list(needs),
    } | keys


SEARCH: Document = {
    "title": "Move full-text search off the application's database",
    "project": "shop",
    "origin_dir": "/srv/checkouts/shop",
    "generated_by": "planner",
    "groups": [
        {"path": "prepare", "description": "What must be known before anything moves"},
        {"path": "move", "description": "The new index beside the old one, then instead of it"},
    ],
    "steps": [
        _task(
            "measure",
            "Record what people search for and how long the answers take today",
            group="prepare",
            criteria=["A week of queries is kept", "Median and 95th percentile are written down"],
        ),
        _task("choose", "Compare the three candidate engines on those queries", "measure", group="prepare"),
        {
            "id": "agree",
            "type": "checkpoint",
            "goal": "Decide on an engine and on what may be slower for it",
            "harness": "human",
            "depends_on": ["choose"],
            "fields": [
                {"name": "engine", "label": "Engine", "hint": "As it is named in the comparison"},
                {"name": "limit_ms", "label": "Slowest acceptable answer, in ms", "required": False},
            ],
        },
        {
            "id": "index",
            "type": "parallel",
            "goal": "Build the new index for each catalogue",
            "harness": "builder",
            "depends_on": ["agree"],
            "body": ["export", "load", "compare"],
            "on_instance_failure": "continue",
            "instance_params": [{"name": "catalogue", "description": "Which catalogue the branch is for"}],
            "group": "move",
        },
        _task("export", "Export the documents of {{ catalogue }}", group="move"),
        _task("load", "Load {{ catalogue }} into the new engine", "export", group="move"),
        _task(
            "compare",
            "Run the recorded queries of {{ catalogue }} against both",
            "load",
            group="move",
            criteria=["The first ten results agree for 95 % of the queries"],
        ),
        _task("switch", "Send a tenth of the traffic to the new engine", "index", group="move"),
        _task("remove", "Remove the old index and its triggers", "switch", group="move"),
    ],
}

FLAKY: Document = {
    "title": "Make the payment tests dependable",
    "project": "shop",
    "origin_dir": "/srv/checkouts/shop",
    "generated_by": "planner",
    "steps": [
        _task("collect", "Collect every failure of the last 200 runs of the payment suite"),
        {
            "id": "rounds",
            "type": "loop",
            "goal": "Find one cause, mend it, and run the suite 50 times",
            "harness": "builder",
            "depends_on": ["collect"],
            "body": ["mend", "prove"],
            "exit_when": "50 runs in a row pass",
        },
        _task("mend", "Find the most frequent cause that is left and mend it"),
        _task("prove", "Run the suite 50 times", "mend", criteria=["Every run is counted, passed or not"]),
        _task("report", "Write down what was mended, and what to watch", "rounds", harness="writer"),
    ],
}

LICENCES: Document = {
    "title": "List the licences of what we ship",
    "project": "compliance",
    "generated_by": "planner",
    "steps": [
        _task("inventory", "List every package in the release images"),
        _task("resolve", "Find the licence of each, from its own files", "inventory"),
        _task("unclear", "Name those without a clear licence", "resolve"),
        {
            "id": "counsel",
            "type": "checkpoint",
            "goal": "Say which of the unclear ones may stay",
            "harness": "human",
            "depends_on": ["unclear"],
        },
        _task("publish", "Publish the list with the release", "counsel", harness="writer"),
    ],
}

GUIDE: Document = {
    "title": "Write the guide for {{ audience }}",
    "steps": [
        _task("outline", "Outline what {{ audience }} must be able to do afterwards", harness="writer"),
        _task("draft", "Write the first draft for {{ audience }}", "outline", harness="writer"),
        _task(
            "try",
            "Follow the draft on a clean machine, word by word",
            "draft",
            criteria=["Every command was run", "What was unclear is noted"],
        ),
        _task("finish", "Mend what was unclear", "try", harness="writer"),
    ],
}
