"""Runs at every state: waiting, under way, failed, cancelled, completed."""

from datetime import timedelta

from chief_project.demo import plans, texts
from chief_project.demo.stage import Played, Scene, Stage, after, ago, before, replay
from workflows.services.clone_workflow import clone_workflow

# -- The shop's search: at a checkpoint, and with branches under way ---------------------------------


def search(stage: Stage) -> Scene:
    """One plan with two runs: the first chose an engine and builds the index, the second waits for a choice."""
    yield ago(d=9, h=4)
    workflow_id = stage.draft(plans.SEARCH, by=stage.claude)
    yield ago(d=8, h=22)
    stage.approve(workflow_id, "Small steps, and each can be undone.")
    yield ago(d=8, h=21)
    first = stage.run(workflow_id, stage.claude, branch="search-engine", commit="c07d9e1")
    yield from _measures(first, began=ago(d=8, h=20), ended=ago(d=1, h=18))
    yield from _compares(first, began=ago(d=1, h=17), ended=ago(d=1, h=9))
    yield ago(d=1, h=8)
    first.begin("agree", "The comparison is ready to be decided on.")
    yield ago(d=1, h=5, m=10)
    first.resolve("agree", note="B would do, but we want room to grow.", engine="A", limit_ms="300")
    for build in (_books, _music, _maps, _films):
        stage.meanwhile(build(first))
    yield ago(h=9, m=40)
    second = stage.run(workflow_id, stage.claude, branch="search-engine-eu", commit="77a1f02", region="eu")
    yield from _measures(second, began=ago(h=9, m=30), ended=ago(h=3, m=5))
    yield from _compares(second, began=ago(h=3), ended=ago(m=50))
    yield ago(m=46)
    second.begin("agree", "The queries of the second region differ: more words, more accents.")


def _measures(run: Played, began: timedelta, ended: timedelta) -> Scene:
    yield began
    run.begin("measure", "Recording the queries.")
    yield ended
    run.done(
        "measure",
        "41,300 queries in a week. Half are answered within 180 ms, 95 % within 1.4 s.",
        "See queries.csv, seven days.",
        "180 ms and 1,400 ms, in latency.md.",
        artifacts=[
            {"type": "text/csv", "description": "The queries, without names", "ref": "data/queries.csv"},
            {
                "artifact_id": "latency",
                "type": "text/markdown",
                "description": "How long they take",
                "data": texts.LATENCY,
            },
        ],
        metadata={"queries": 41300, "p50_ms": 180, "p95_ms": 1400},
    )


def _compares(run: Played, began: timedelta, ended: timedelta) -> Scene:
    yield began
    run.begin("choose", "Loading a tenth of the documents into each.")
    yield ended
    run.done(
        "choose",
        "Two of three candidates find everything that the old index finds; the third loses accents.",
        artifacts=[
            {
                "artifact_id": "comparison",
                "type": "text/markdown",
                "description": "Three engines compared",
                "data": texts.COMPARISON,
            }
        ],
    )
    run.comment("comparison", "Please add what each costs to run.")


def _books(run: Played) -> Scene:
    yield ago(d=1, h=4, m=50)
    place = run.branch("index", catalogue="books", documents=1204511)
    run.begin(f"{place}/export")
    yield ago(d=1, h=3, m=20)
    run.done(f"{place}/export", "1.2 million documents.")
    run.begin(f"{place}/load")
    yield ago(d=1, h=3, m=6)
    run.done(f"{place}/load", "Loaded in 14 minutes.")
    run.begin(f"{place}/compare")
    yield ago(d=1, h=1, m=30)
    run.done(f"{place}/compare", "97.1 % of the queries agree.", "97.1 %, in compare-books.json.")


def _music(run: Played) -> Scene:
    """Fails, and the others go on."""
    yield ago(d=1, h=4, m=40)
    place = run.branch("index", catalogue="music", documents=310020)
    run.begin(f"{place}/export")
    yield ago(d=1, h=4, m=2)
    run.fail(
        f"{place}/export",
        "The export stops at a record without a title: id 88213.",
        metadata={"exported": 88212},
    )


def _maps(run: Played) -> Scene:
    """Doesn't count any more."""
    yield ago(d=1, h=1)
    place = run.branch("index", catalogue="maps", documents=900)
    run.begin(f"{place}/export")
    yield ago(d=1, m=55)
    run.done(f"{place}/export", "900 documents.")
    yield ago(h=20)
    run.stale(place, "The maps catalogue closes this year.")


def _films(run: Played) -> Scene:
    yield ago(h=1, m=30)
    place = run.branch("index", catalogue="films", documents=48200)
    run.begin(f"{place}/export", "Exporting.", metadata={"done": "40 %"})


# -- 212 branches ------------------------------------------------------------------------------------

_SECTIONS = ("help", "books", "music", "films", "games", "garden", "gifts", "account")
_NAMES = [
    "index",
    "new",
    "top",
    "sale",
    "returns",
    "cards",
    "search",
    "filters",
    "reviews",
    "authors",
    "labels",
    "sizes",
    "delivery",
    "invoices",
    "wishlist",
    "compare",
    "newsletter",
    "contact",
    "terms",
    "privacy",
    "jobs",
    "press",
    "stores",
    "hours",
    "events",
    "archive",
    "offers",
]
PAGE_COUNT = 212
_DONE = 188
_WAITING = 203  # registered and not begun from here on
_BROKEN = 61


def pages_in_212_branches(stage: Stage) -> Scene:
    """Most are done, fourteen are at work, one failed and holds nothing up."""
    yield ago(d=1, h=5)
    workflow_id = stage.draft(plans.PAGES, by=stage.codex)
    yield ago(h=22, m=10)
    stage.approve(
        workflow_id,
        "Begin slowly, the shop is open; more at once when nothing slows down.",
        by=stage.reviewer,
    )
    yield ago(h=9, m=55)
    run = stage.run(workflow_id, stage.codex, device="slow phone, 400 kbit/s", commit="e20b7c4")
    run.begin("list-pages", "Reading the access log.")
    yield ago(h=9, m=41)
    run.done("list-pages", "212 pages, 96 % of all visits.", "Queries were cut off before counting.")
    run.report("pages", "Three pages at a time, to begin with.")
    pages = [f"/{section}/{name}" for section in _SECTIONS for name in _NAMES][:PAGE_COUNT]
    for number, page in enumerate(pages):
        stage.meanwhile(_page(run, number, page))


def _page(run: Played, number: int, page: str) -> Scene:
    slow = 2.1 + number * 37 % 53 / 10  # seconds; some order that nobody sees
    began = ago(h=9, m=36, s=-number * 181) if number < _DONE else ago(m=8.5, s=-(number - _DONE) * 18)
    yield began
    place = run.branch("pages", page=page)
    if number >= _WAITING:
        return
    run.begin(f"{place}/load")
    if number >= _DONE + 6:
        return
    yield began - ago(m=2, s=number * 13 % 60)
    if number == _BROKEN:
        run.fail(f"{place}/load", "Answered with status 500, three times.", metadata={"status": 500})
        return
    more = {}
    if page == "/music/top":
        more = {
            "artifacts": [
                {
                    "artifact_id": "trace-music-top",
                    "type": "application/json",
                    "description": "What the page does while it loads",
                    "data": texts.TRACE,
                }
            ]
        }
        slow = 9.4
    run.done(
        f"{place}/load",
        f"{slow:.1f} s until something can be pressed.",
        metadata={"seconds": round(slow, 1)},
        **more,
    )
    run.begin(f"{place}/keyboard")
    if number >= _DONE:
        return
    yield began - ago(m=7, s=number * 29 % 170)
    found = max(0, number * 7 % 11 - 7)
    run.done(
        f"{place}/keyboard",
        "Everything can be reached." if not found else f"{found} things can't be reached.",
        f"{20 + number * 17 % 60} links and buttons.",
        metadata={"problems": found},
    )


# -- The payment tests: a loop, questions, amendments ------------------------------------------------


def payment_tests(stage: Stage) -> Scene:
    """Four runs of one plan: completed after amendments, waiting for an answer, paused by one, taken back."""
    yield ago(d=7, h=9)
    workflow_id = stage.draft(plans.PAYMENTS, by=stage.claude)
    yield ago(d=7, h=2)
    stage.approve(workflow_id, by=stage.reviewer)
    stage.meanwhile(_three_rounds(stage, workflow_id))
    stage.meanwhile(_waits_for_an_answer(stage, workflow_id))
    stage.meanwhile(_waits_for_an_amendment(stage, workflow_id))


def _three_rounds(stage: Stage, workflow_id: str) -> Scene:
    """The second round failed for a reason outside it and was run again by a person's decision."""
    yield ago(d=6, h=22)
    run = stage.run(workflow_id, stage.claude, branch="steady-payments")
    run.begin("collect")
    yield ago(d=6, h=21)
    run.done("collect", "38 failures, in three groups.")
    yield ago(d=6, h=20)
    first = run.branch("rounds", cause="shared clock")
    run.begin(f"{first}/mend")
    yield ago(d=6, h=18)
    run.done(f"{first}/mend", "The card tests shared one clock; each has its own now.")
    run.begin(f"{first}/prove")
    yield ago(d=6, h=16)
    run.done(f"{first}/prove", "41 of 50 runs passed.", "50 runs counted, 9 failed.", metadata={"passed": 41})
    yield ago(d=6, h=4)
    second = run.branch("rounds", cause="wrong event")
    run.begin(f"{second}/mend")
    yield ago(d=6, h=2)
    run.done(f"{second}/mend", "The refund test waited for the event before the one it needed.")
    run.begin(f"{second}/prove")
    yield ago(d=6, h=1)
    run.fail(f"{second}/prove", "Stopped: the machine ran out of disk after 12 runs.")
    yield ago(d=6, m=50)
    again = [replay("prove", second)]
    hasty = run.propose("history_edit", "Run it again.", again)
    yield ago(d=5, h=23)
    run.reject(hasty, "Make room on the disk first, or it fails again.")
    yield ago(d=5, h=21)
    ready = run.propose("history_edit", "The disk has 200 GB free now: prove the second round again.", again)
    yield ago(d=5, h=20, m=12)
    run.accept(ready, "Yes.")
    run.begin(f"{second}/prove")
    yield ago(d=5, h=18)
    run.done(
        f"{second}/prove", "49 of 50 runs passed.", "50 runs counted, 1 failed.", metadata={"passed": 49}
    )
    yield ago(d=5, h=8)
    wider = run.propose(
        "forward",
        "The same clock is used by the delivery tests.",
        [before("report", plans.task("delivery", "Mend the delivery tests in the same way", "rounds"))],
    )
    yield ago(d=5, h=7, m=30)
    run.withdraw(wider, "The delivery tests have an owner of their own; they were told.")
    yield ago(d=5, h=6)
    third = run.branch("rounds", cause="shared account")
    run.begin(f"{third}/mend")
    yield ago(d=5, h=4)
    run.done(f"{third}/mend", "Two tests wrote to one account; accounts are made for each test now.")
    run.begin(f"{third}/prove")
    yield ago(d=5, h=2)
    run.done(
        f"{third}/prove", "50 of 50 runs passed.", "50 runs counted, all passed.", metadata={"passed": 50}
    )
    run.close("rounds", "50 runs in a row pass.")
    run.begin("report")
    yield ago(d=5, h=1)
    run.done(
        "report",
        "Written. Watch the sandbox's limit.",
        artifacts=[
            {
                "artifact_id": "mended",
                "type": "text/markdown",
                "description": "What was mended",
                "data": texts.MENDED,
            }
        ],
    )
    yield ago(d=4, h=22)
    run.comment("mended", "Thank you. The limit can be raised: ask the bank's support.", by=stage.reviewer)


def _waits_for_an_answer(stage: Stage, workflow_id: str) -> Scene:
    yield ago(h=6, m=30)
    run = stage.run(workflow_id, stage.planner, branch="steady-payments-2")
    run.begin("collect")
    yield ago(h=5, m=40)
    run.done("collect", "Seven failures since last week, all in the sandbox.")
    yield ago(h=5, m=30)
    place = run.branch("rounds", cause="sandbox limit")
    run.begin(f"{place}/mend", "The sandbox refuses the eleventh payment of a minute.")
    yield ago(h=2, m=25)
    run.ask(
        f"{place}/mend",
        "The sandbox accepts only ten payments a minute. May the tests use recorded answers instead?",
        {"name": "decision", "label": "Recorded answers", "hint": "yes, no, or only for cards"},
        {"name": "until", "label": "Until when", "required": False},
    )


def _waits_for_an_amendment(stage: Stage, workflow_id: str) -> Scene:
    yield ago(h=4, m=20)
    run = stage.run(workflow_id, stage.planner, branch="runner")
    run.begin("collect")
    yield ago(h=2, m=1)
    run.done("collect", "Six failures, all in one file.")
    yield ago(h=1, m=48)
    upgrade = plans.task("upgrade", "Upgrade the test runner to the version that mends them", "collect")
    run.propose("forward", "Four of the six are bugs of the runner itself.", [after("collect", upgrade)])


# -- The release: waits at a checkpoint, after an amendment that a policy approved --------------------


def release(stage: Stage) -> Scene:
    """A question taken back, a step put in by policy, and now a person says where to begin."""
    yield ago(d=3, h=2)
    workflow_id = stage.draft(plans.RELEASE, by=stage.codex)
    yield ago(d=2, h=23)
    stage.approve(workflow_id, "As for 4.1.", by=stage.reviewer)
    yield ago(d=2, h=22)
    run = stage.run(workflow_id, stage.codex, version="4.2.0", branch="release-4.2")
    run.begin("cut")
    yield ago(d=2, h=21, m=50)
    run.done("cut", "Tagged 4.2.0-rc1 at 5d1e0aa.", metadata={"commit": "5d1e0aa", "merged": 143})
    run.begin("notes")
    yield ago(d=2, h=21)
    lost = run.ask("notes", "Does the change of the session table belong in the notes for everybody?")
    yield ago(d=2, h=20, m=30)
    run.take_back("notes", lost, "The ticket says it: only for people who run it.")
    yield ago(d=2, h=19)
    run.done(
        "notes",
        "Two sections, 31 entries.",
        artifacts=[
            {
                "artifact_id": "notes",
                "type": "text/markdown",
                "description": "Release notes, draft",
                "data": texts.NOTES_MD,
            }
        ],
    )
    yield ago(d=2, h=3, m=20)
    run.begin("soak", "Recorded traffic of last Tuesday, four times over.")
    yield ago(d=1, h=6)
    rerun = plans.task("export-fix", "Mend the timeout of long exports on the branch", "cut")
    run.propose("forward", "Exports above 10,000 rows time out in the soak.", [after("cut", rerun)])
    run.begin("export-fix")
    yield ago(d=1, h=2)
    run.done("export-fix", "Exports are streamed again.", metadata={"commit": "a93c4f7"})
    yield ago(h=1, m=9)
    run.done(
        "soak",
        "47 h 58 min. Error rate 0.031 % against 0.029 %; p95 191 ms against 188 ms.",
        "0.031 %.",
        "1.6 % above.",
        "One, mended on the branch: exports above 10,000 rows.",
        metadata={"hours": 47.97, "requests": 61_000_000, "candidate": "4.2.0-rc3"},
        artifacts=[
            {
                "artifact_id": "soak",
                "type": "text/markdown",
                "description": "Soak of 4.2.0-rc3",
                "data": texts.SOAK,
            }
        ],
    )
    yield ago(h=1, m=7)
    run.begin(
        "go-first",
        "The soak has ended: error rate 0.031 % against 0.029 %, p95 191 ms against 188 ms; one regression, mended.",
    )


# -- Failed, cancelled, completed --------------------------------------------------------------------


def a_failed_loop_nobody_looked_at(stage: Stage) -> Scene:
    """Fourteen months went well, then one didn't."""
    yield ago(d=6, h=5)
    workflow_id = stage.draft(plans.TAX, by=stage.codex)
    yield ago(d=5, h=22)
    stage.approve(workflow_id, "On the copy first, as the plan says.")
    yield ago(d=4, h=8)
    run = stage.run(workflow_id, stage.codex, copy="orders-copy-3")
    run.begin("rules")
    yield ago(d=4, h=5)
    run.done("rules", "31 rules in 9 countries, back to 2019.", "Each names its law and paragraph.")
    for number in range(14):
        month = f"{2019 + number // 12}-{number % 12 + 1:02}"
        start = ago(d=4, h=4) - ago(h=5) * number
        yield start
        place = run.branch("months", month=month)
        run.begin(f"{place}/recompute")
        yield start - ago(h=2, m=number * 7)
        run.done(f"{place}/recompute", f"{6100 + number * 431:,} orders.")
        run.begin(f"{place}/reconcile")
        yield start - ago(h=3, m=40)
        run.done(f"{place}/reconcile", "Agrees to the cent.", "No difference.", metadata={"difference": 0})
    yield ago(d=1, h=6)
    place = run.branch("months", month="2020-03")
    run.begin(f"{place}/recompute")
    yield ago(d=1, h=4)
    run.done(f"{place}/recompute", "12,310 orders.")
    run.begin(f"{place}/reconcile")
    yield ago(d=1, h=3)
    run.fail(
        f"{place}/reconcile",
        "214 of 12,310 orders differ, all of one shop whose currency changed in the middle of the month."
        " I stopped rather than guess which one counts.",
        metadata={"difference": 8120.55, "shop": 4471},
        artifacts=[
            {
                "type": "text/csv",
                "description": "The 214 orders that differ",
                "data": "order,ours,ledger,currency\n990141,18.20,16.85,EUR\n990377,7.99,7.40,EUR\n",
            }
        ],
    )


def licences(stage: Stage) -> Scene:
    """A failure that somebody has seen, and a run that was called off; its plan lives on as a copy."""
    yield ago(d=9, h=8)
    workflow_id = stage.draft(plans.LICENCES, by=stage.planner)
    yield ago(d=9, h=2)
    stage.approve(workflow_id)
    yield ago(d=9)
    failed = stage.run(workflow_id, stage.planner, release="4.1.7")
    failed.begin("inventory")
    yield ago(d=8, h=23)
    failed.done("inventory", "214 packages.")
    failed.begin("resolve")
    yield ago(d=8, h=20)
    failed.fail("resolve", "The registry refuses the token after 60 packages.")
    yield ago(d=8, h=2)
    failed.acknowledge()
    yield ago(d=2, h=5)
    cancelled = stage.run(workflow_id, stage.planner, release="4.1.8")
    cancelled.begin("inventory", "Reading the images.")
    yield ago(d=2, h=4)
    cancelled.ask("inventory", "Do the images of the partners belong to what we ship?")
    yield ago(d=1, h=20)
    cancelled.cancel("4.1.8 was called off.")
    yield ago(m=39)
    clone_workflow(caller=stage.planner, workflow_id=workflow_id, run_id=cancelled.run_id)


def completed(stage: Stage) -> Scene:
    """Nothing went wrong; a checkpoint-free afternoon."""
    yield ago(d=11, h=4)
    workflow_id = stage.draft(plans.IMAGES, by=stage.claude)
    yield ago(d=11, h=1)
    stage.approve(workflow_id, "Yes. Keep the old base for a month.", by=stage.reviewer)
    yield ago(d=11)
    run = stage.run(workflow_id, stage.claude, commit="0f8c2bd")
    run.begin("weigh")
    yield ago(d=10, h=23, m=20)
    run.done(
        "weigh",
        "Nine images, 11.4 GB together; compilers are 40 % of it.",
        "nine lists, the largest layer first.",
        artifacts=[
            {
                "type": "application/json",
                "description": "Size of each image, in megabytes",
                "data": {"web": 2140, "worker": 2090, "mail": 1310, "search": 1820, "cron": 980},
            }
        ],
    )
    run.begin("base")
    run.begin("stages")
    yield ago(d=10, h=21)
    run.done("base", "One base of 78 MB.")
    yield ago(d=10, h=19, m=30)
    run.done("stages", "No compiler is shipped any more.", metadata={"before_mb": 11400, "after_mb": 4900})
    run.begin("prove")
    yield ago(d=10, h=19)
    run.done("prove", "Nine of nine are healthy.", "Nine of nine, twice.")


SCENES = (
    completed,
    search,
    licences,
    payment_tests,
    a_failed_loop_nobody_looked_at,
    release,
    pages_in_212_branches,
)
