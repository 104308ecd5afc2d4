"""The plans of the demo, as the documents a harness would submit."""

from collections.abc import Iterable
from typing import Any

Document = dict[str, Any]


def task(step_id: str, goal: str, *needs: str, harness: str = "builder", **keys: Any) -> Document:
    """A task that waits for ``needs``."""
    return {"id": step_id, "type": "task", "goal": goal, "harness": harness, "depends_on": list(needs)} | keys


def checkpoint(step_id: str, goal: str, *needs: str, **keys: Any) -> Document:
    """A decision that waits for ``needs``."""
    return {
        "id": step_id,
        "type": "checkpoint",
        "goal": goal,
        "harness": "human",
        "depends_on": list(needs),
    } | keys


def loop(step_id: str, goal: str, body: list[str], exit_when: str, *needs: str, **keys: Any) -> Document:
    """``body`` again and again."""
    return task(step_id, goal, *needs, **keys) | {"type": "loop", "body": body, "exit_when": exit_when}


def parallel(step_id: str, goal: str, body: list[str], *needs: str, per: str = "", **keys: Any) -> Document:
    """``body`` for each of many things; ``per`` is the parameter that tells branches apart."""
    params = [{"name": per}] if per else []
    return task(step_id, goal, *needs, **keys) | {"type": "parallel", "body": body, "instance_params": params}


def with_steps(document: Document, *changed: Document, without: Iterable[str] = ()) -> Document:
    """``document`` with ``changed`` steps in the place of those with their ids, new ones at the end."""
    new = {step["id"]: step for step in changed}
    gone = set(without)
    kept = [new.pop(step["id"], step) for step in document["steps"] if step["id"] not in gone]
    return document | {"steps": [*kept, *new.values()]}


# -- shop --------------------------------------------------------------------------------------------

_INVENTORY = "List every producer and every consumer of the topic `orders.events`"
ORDERS: Document = {
    "title": "Move order events to the second schema",
    "project": "shop",
    "origin_dir": "/srv/checkouts/order-events",
    "groups": [
        {"path": "prepare", "description": "Both versions are written and nobody notices"},
        {"path": "move", "description": "Old months first, then one consumer after the other"},
        {"path": "close", "description": "The first version ends"},
    ],
    "steps": [
        task("inventory", _INVENTORY, group="prepare"),
        task("schema", "Write the second schema", "inventory", group="prepare"),
        task(
            "dual-write",
            "Write both versions behind the flag `orders_v2`",
            "schema",
            group="prepare",
            criteria=[
                "With the flag off, not a byte differs from today",
                "With the flag on, an order that is placed has both events within 200 ms",
            ],
        ),
        loop(
            "backfill",
            "Backfill the old orders month by month, the oldest first",
            ["pick-month", "copy-month", "compare-month"],
            "every month from 2019-01 to the present has matching checksums",
            "dual-write",
            group="move",
        ),
        task("pick-month", "Take the oldest month without matching checksums", group="move"),
        parallel(
            "copy-month",
            "Copy the month, shard by shard",
            ["copy-shard"],
            "pick-month",
            per="shard",
            group="move",
        ),
        task("copy-shard", "Copy the orders of {{ shard }} in batches of 5,000", group="move"),
        task(
            "compare-month",
            "Compare the row counts of the copied month with the first version",
            "copy-month",
            group="move",
            criteria=["The counts are equal for every shop, cancelled orders included"],
            inputs={
                "window": "the month from pick-month",
                "order_by": ["shop_id", "order_id", "event_seq"],
                "source": "postgres://orders-replica.internal.example:5432/orders_v1",
            },
        ),
        parallel(
            "consumers",
            "Move the consumers",
            ["switch-reads", "watch"],
            "backfill",
            per="consumer",
            on_instance_failure="continue",
            group="move",
        ),
        task("switch-reads", "Let {{ consumer }} read the second version", group="move"),
        task(
            "watch",
            "Compare what {{ consumer }} puts out from both for 48 hours",
            "switch-reads",
            group="move",
        ),
        checkpoint(
            "go-final",
            "Stop writing the first version? Nothing reads it from here on.",
            "consumers",
            group="close",
            fields=[
                {"name": "day", "label": "Day", "hint": "Not in the week before a sale"},
                {"name": "undo_until", "label": "Undo possible until", "required": False},
            ],
        ),
        task(
            "retire",
            "Take back the rights of the old consumers and archive the topic",
            "go-final",
            group="close",
        ),
        task("tell-partners", "Tell the partners that the first version has ended", "retire", group="close"),
    ],
}
ORDERS_2 = with_steps(
    ORDERS,
    task(
        "inventory",
        _INVENTORY,
        group="prepare",
        criteria=["Consumers outside this repository are named too, with where they run"],
    ),
    task(
        "schema",
        "Write the second schema and a table of what is compatible with what",
        "inventory",
        group="prepare",
    ),
)
_DUAL_WRITE = ORDERS["steps"][2]
_COMPARE = ORDERS["steps"][7]
ORDERS_3 = with_steps(
    ORDERS_2,
    _DUAL_WRITE
    | {
        "depends_on": ["schema", "replay-day"],
        "criteria": [
            *_DUAL_WRITE["criteria"],
            "Both writes share one transaction: when the second fails, the first is taken back",
        ],
    },
    _COMPARE
    | {
        "goal": "Compare row counts and SHA-256 checksums of the copied month against the first version, per shop",
        "criteria": [
            *_COMPARE["criteria"],
            "The checksums over the ordered orders are equal, or each difference is listed with its order id",
            "A month with differences is reported as failed, never skipped",
        ],
    },
    task(
        "replay-day",
        "Build a harness that replays one day of recorded orders through both versions",
        "inventory",
        group="prepare",
        criteria=["A day is replayed in under 20 minutes", "Twice in a row puts out the same, byte for byte"],
    ),
    task(
        "freeze",
        "Refuse writes of the first version and keep it readable for 30 days",
        "go-final",
        group="close",
    ),
    task(
        "retire",
        "Take back the rights of the old consumers and archive the topic",
        "freeze",
        group="close",
    ),
    without=["tell-partners"],
)

SEARCH: Document = {
    "title": "Move full-text search off the application's database",
    "project": "shop",
    "origin_dir": "/srv/checkouts/shop",
    "groups": [
        {"path": "prepare", "description": "What must be known before anything moves"},
        {"path": "move", "description": "The new index beside the old one, then instead of it"},
    ],
    "steps": [
        task(
            "measure",
            "Record what people search for and how long the answers take today",
            group="prepare",
            criteria=["A week of queries is kept", "Median and 95th percentile are written down"],
        ),
        task("choose", "Compare the three candidate engines on those queries", "measure", group="prepare"),
        checkpoint(
            "agree",
            "Decide on an engine and on what may be slower for it",
            "choose",
            fields=[
                {"name": "engine", "label": "Engine", "hint": "As it is named in the comparison"},
                {"name": "limit_ms", "label": "Slowest acceptable answer, in ms", "required": False},
            ],
        ),
        parallel(
            "index",
            "Build the new index for each catalogue",
            ["export", "load", "compare"],
            "agree",
            per="catalogue",
            on_instance_failure="continue",
            group="move",
        ),
        task("export", "Export the documents of {{ catalogue }}", group="move"),
        task("load", "Load {{ catalogue }} into the new engine", "export", group="move"),
        task(
            "compare",
            "Run the recorded queries of {{ catalogue }} against both",
            "load",
            group="move",
            criteria=["The first ten results agree for 95 % of the queries"],
        ),
        task("switch", "Send a tenth of the traffic to the new engine", "index", group="move"),
        task("remove", "Remove the old index and its triggers", "switch", group="move"),
    ],
}

PAYMENTS: Document = {
    "title": "Make the payment tests dependable",
    "project": "shop",
    "origin_dir": "/srv/checkouts/shop",
    "steps": [
        task("collect", "Collect every failure of the last 200 runs of the payment suite"),
        loop(
            "rounds",
            "Find one cause, mend it, and run the suite 50 times",
            ["mend", "prove"],
            "50 runs in a row pass",
            "collect",
        ),
        task("mend", "Find the most frequent cause that is left and mend it"),
        task("prove", "Run the suite 50 times", "mend", criteria=["Every run is counted, passed or not"]),
        task("report", "Write down what was mended, and what to watch", "rounds", harness="writer"),
    ],
}

PAGES: Document = {
    "title": "Check all 212 pages of the shop on a slow phone and without a mouse",
    "project": "shop",
    "origin_dir": "/srv/checkouts/storefront",
    "steps": [
        task(
            "list-pages",
            "List the pages that were visited in the last 90 days, from the access log",
            criteria=["Pages that only differ in a query are counted once"],
        ),
        parallel(
            "pages",
            "Check each page",
            ["load", "keyboard"],
            "list-pages",
            per="page",
            on_instance_failure="continue",
        ),
        task("load", "Load {{ page }} on a slow phone, three times, and keep the median"),
        task(
            "keyboard",
            "Reach everything on {{ page }} by keyboard and look whether the focus can be seen",
            "load",
            criteria=["Every link and button was reached, or is listed"],
        ),
        task("rank", "Rank what was found by how many visits it spoils", "pages"),
        checkpoint(
            "pick", "Pick what is mended first", "rank", fields=[{"name": "first", "label": "Mend first"}]
        ),
        task("tickets", "Open one ticket for each that was picked", "pick", harness="writer"),
    ],
}

TAX: Document = {
    "title": "Recompute the tax of old orders, month by month",
    "project": "shop",
    "origin_dir": "/srv/checkouts/shop",
    "steps": [
        task(
            "rules",
            "Write down which tax rule held in which country and month",
            criteria=["Each has a source"],
        ),
        loop(
            "months",
            "Recompute one month on the copy, then on the original",
            ["recompute", "reconcile"],
            "the present month is reached",
            "rules",
        ),
        task("recompute", "Recompute the tax of every order of the month on the copy"),
        task(
            "reconcile",
            "Reconcile the month with the ledger",
            "recompute",
            criteria=["The sums agree to the cent, or each difference is listed"],
        ),
        task("publish", "Publish the corrected sums to the ledger", "months"),
        task("close", "Close the months that agree", "publish"),
    ],
}

# -- platform ----------------------------------------------------------------------------------------

_SERVICES = [
    "accounts",
    "basket",
    "catalogue",
    "checkout",
    "delivery",
    "invoices",
    "mail",
    "payments",
    "prices",
    "returns",
    "search",
    "stock",
]


def _upgrade() -> Document:
    """One larger plan: four steps for each service, in waves of four services, a decision after the first."""
    steps = [
        task("inventory", "List which services use which parts of the framework", group="prepare"),
        task(
            "notes",
            "Read the release notes and list what breaks, with who is hit",
            "inventory",
            group="prepare",
        ),
        task(
            "shared-lib",
            "Make the shared library work with both versions",
            "notes",
            group="prepare",
            criteria=["Its tests pass on 4.2 and on 5.2", "No service has to change for it"],
        ),
        task("pipeline", "Let the pipeline run each suite on both versions", "inventory", group="prepare"),
    ]
    for place, name in enumerate(_SERVICES):
        wave = place // 4
        ready = ["shared-lib", "pipeline"] if wave == 0 else ["go-on"] if wave == 1 else ["watch"]
        group = f"services/{name}"
        steps += [
            task(
                f"{name}-pin", f"Pin {name} to the bridge release and mend its warnings", *ready, group=group
            ),
            task(f"{name}-port", f"Port {name}: settings, middleware, forms", f"{name}-pin", group=group),
            task(
                f"{name}-prove",
                f"Prove {name} with a day of recorded requests",
                f"{name}-port",
                group=group,
                criteria=["No answer differs but in dates and ids", "p95 is at most 5 % slower"],
            ),
            task(
                f"{name}-release",
                f"Release {name} to a tenth of the machines, then to all",
                f"{name}-prove",
                group=group,
            ),
        ]
    released = [[f"{name}-release" for name in _SERVICES[at : at + 4]] for at in (0, 4, 8)]
    steps += [
        checkpoint(
            "go-on",
            "The first four run on the new version. Go on with the next wave?",
            *released[0],
            fields=[{"name": "pause", "label": "Days to wait before the last wave", "required": False}],
        ),
        task("watch", "Watch error rates and memory of the second wave for two days", *released[1]),
        task("drop-bridge", "Drop the bridge from the shared library", *released[2]),
        task("write-up", "Write down what was harder than the notes said", "drop-bridge", harness="writer"),
    ]
    return {
        "title": "Upgrade the web framework in all twelve services",
        "project": "platform",
        "origin_dir": "/srv/checkouts/services",
        "groups": [
            {"path": "prepare", "description": "Before the first service changes"},
            {"path": "services", "description": "Twelve services in three waves"},
        ],
        "steps": steps,
    }


UPGRADE = _upgrade()

KEYS: Document = {
    "title": "Rotate the signing keys of every service",
    "project": "platform",
    "steps": [
        task("find", "Find every place where a signing key is read"),
        task("twice", "Let every reader accept the old and the new key", "find"),
        parallel("rotate", "Rotate each service", ["issue", "swap"], "twice", per="service"),
        task("issue", "Issue a new key for {{ service }}"),
        task("swap", "Sign with the new key in {{ service }}", "issue"),
        task("revoke", "Revoke the old keys", "rotate"),
    ],
}

RELEASE: Document = {
    "title": "Release 4.2: cut, soak for two days, roll out by region, announce",
    "project": "platform",
    "origin_dir": "/srv/checkouts/platform",
    "steps": [
        task("cut", "Cut the branch `release-4.2` and tag the candidate"),
        task("notes", "Draft the release notes from what was merged", "cut", harness="writer"),
        task(
            "soak",
            "Let the candidate run on the staging machines for 48 hours under recorded traffic",
            "cut",
            criteria=[
                "Error rate at most 0.035 %",
                "p95 at most 3 % above that of 4.1",
                "Every regression is mended on the branch or listed as known",
            ],
        ),
        checkpoint(
            "go-first",
            "Roll out to the first region?",
            "soak",
            "notes",
            fields=[
                {"name": "region", "label": "First region", "hint": "Where to begin, for example north-1"},
                {
                    "name": "message",
                    "label": "Message to the support team",
                    "hint": "What they may hear from customers",
                    "required": False,
                },
            ],
        ),
        task(
            "first", "Roll out to the region that was named, a quarter of the machines at a time", "go-first"
        ),
        parallel("regions", "Roll out to the other regions", ["deploy", "verify"], "first", per="region"),
        task("deploy", "Deploy to {{ region }}"),
        task(
            "verify",
            "Verify {{ region }} with the smoke tests",
            "deploy",
            criteria=["All 64 smoke tests pass"],
        ),
        task("announce", "Announce the release", "regions", harness="writer"),
    ],
}

IMAGES: Document = {
    "title": "Halve the size of the container images",
    "project": "platform",
    "origin_dir": "/srv/checkouts/images",
    "steps": [
        task(
            "weigh", "Weigh every layer of every image", criteria=["Each image has a list, the largest first"]
        ),
        task("base", "Put all images on one slim base", "weigh"),
        task("stages", "Build in stages, so that no compiler is shipped", "weigh"),
        task(
            "prove",
            "Start every image and run its health check",
            "base",
            "stages",
            criteria=["All are healthy"],
        ),
    ],
}

# -- research ----------------------------------------------------------------------------------------

PAPERS: Document = {
    "title": "Review the papers on attention over long contexts, one branch per paper",
    "project": "research",
    "origin_dir": "/srv/checkouts/paper-review",
    "steps": [
        loop(
            "search",
            "Search until another round finds nothing new",
            ["query"],
            "a round finds fewer than three papers that were not there before",
        ),
        task("query", "Search three indexes, drop doubles, keep what has results of its own"),
        parallel(
            "read",
            "Read each paper",
            ["summarise", "tables", "check"],
            "search",
            per="paper",
            on_instance_failure="continue",
        ),
        task(
            "summarise",
            "Summarise {{ paper }} in 600 words",
            criteria=["What is claimed and what is shown are kept apart", "Every number has its page"],
        ),
        task(
            "tables",
            "Extract every results table of {{ paper }} to CSV, with units",
            "summarise",
            criteria=[
                "Each table has a caption and a source page",
                "Units stand in the header row",
                "Totals were recomputed and agree within 0.5 %",
            ],
        ),
        task("check", "Check the summary of {{ paper }} against the PDF", "tables"),
        task("write", "Write the review across every paper", "read", harness="writer"),
        checkpoint("publish", "Publish to the group's wiki?", "write"),
    ],
}

ABLATION: Document = {
    "title": "Ablation: three ways to make attention sparse",
    "project": "research",
    "origin_dir": "/srv/checkouts/sparse",
    "steps": [
        task("implement", "Implement variants A, B and C behind one switch"),
        parallel("train", "Train each variant for 60,000 steps", ["train-one"], "implement", per="variant"),
        task("train-one", "Train variant {{ variant }}"),
        task(
            "evaluate",
            "Evaluate on the held-out set, one seed",
            "train",
            criteria=[
                "Perplexity on the held-out set for A, B and C",
                "A table with one number for each variant",
            ],
        ),
        task("plot-old", "Plot the loss curves with the old script", "train"),
        task(
            "results",
            "Write the results section with tables and figures",
            "evaluate",
            "plot-old",
            harness="writer",
        ),
        task("draft", "Assemble the full draft", "results", harness="writer"),
    ],
}

VECTORS: Document = {
    "title": "Compare three vector stores",
    "project": "research",
    "steps": [
        task("load", "Load ten million vectors into each"),
        task("recall", "Measure recall at 10 and the time of a query", "load"),
        task("cost", "Work out what each costs a month", "load"),
        checkpoint("choose", "Choose one", "recall", "cost"),
    ],
}

# -- compliance --------------------------------------------------------------------------------------

LICENCES: Document = {
    "title": "List the licences of what we ship",
    "project": "compliance",
    "steps": [
        task("inventory", "List every package in the release images"),
        task("resolve", "Find the licence of each, from its own files", "inventory"),
        task("unclear", "Name those without a clear licence", "resolve"),
        checkpoint("counsel", "Say which of the unclear ones may stay", "unclear"),
        task("publish", "Publish the list with the release", "counsel", harness="writer"),
    ],
}

# -- Unfiled -----------------------------------------------------------------------------------------

ACCESS: Document = {
    "title": "Look through everybody's access rights, team by team",
    "steps": [
        task("export", "Export who may do what, from each system"),
        parallel("teams", "Go through each team", ["compare", "confirm"], "export", per="team"),
        task("compare", "Compare the rights of {{ team }} with its list of members"),
        checkpoint(
            "confirm",
            "Which rights of {{ team }} may stay?",
            "compare",
            fields=[{"name": "revoke", "label": "To revoke", "hint": "One name per line, or: none"}],
        ),
        task("revoke", "Revoke what was named and keep the proof", "teams"),
    ],
}

TRANSLATE: Document = {
    "title": "Translate the help pages into Polish",
    "steps": [
        task("glossary", "Agree on 120 words that come up again and again"),
        parallel("chapters", "Translate each chapter", ["translate", "proofread"], "glossary", per="chapter"),
        task("translate", "Translate {{ chapter }}", harness="writer"),
        task("proofread", "Proofread {{ chapter }} against the glossary", "translate", harness="writer"),
        task("publish", "Publish the pages behind the language switch", "chapters"),
    ],
}

# -- Templates ---------------------------------------------------------------------------------------

GUIDE: Document = {
    "title": "Write the guide for {{ audience }}",
    "steps": [
        task("outline", "Outline what {{ audience }} must be able to do afterwards", harness="writer"),
        task("draft", "Write the first draft for {{ audience }}", "outline", harness="writer"),
        task(
            "try",
            "Follow the draft on a clean machine, word by word",
            "draft",
            criteria=["Every command was run", "What was unclear is noted"],
        ),
        task("finish", "Mend what was unclear", "try", harness="writer"),
    ],
}

BUMP: Document = {
    "title": "Upgrade {{ package }} to {{ version }} in {{ repository }}",
    "steps": [
        task(
            "changes",
            "Read the changes of {{ package }} up to {{ version }} and list what touches {{ repository }}",
        ),
        task("bump", "Set {{ package }} to {{ version }} and mend what breaks", "changes"),
        task(
            "prove",
            "Run the whole suite of {{ repository }}",
            "bump",
            criteria=["Every test passes, or fails on the old version too"],
        ),
        checkpoint("merge", "Merge {{ package }} {{ version }} into {{ repository }}?", "prove"),
    ],
}
