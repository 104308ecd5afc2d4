"""Two runs of a research group: branches as lanes with a question open, and an amendment that edits history."""

from chief_project.demo import plans, texts
from chief_project.demo.stage import Played, Scene, Stage, after, ago, remove, replay, update


def papers_with_a_question_open(stage: Stage) -> Scene:
    """Three rounds of a search, then a branch for each of five papers; one asks, one doesn't count any more."""
    yield ago(d=1, h=2, m=10)
    workflow_id = stage.draft(plans.PAPERS, by=stage.claude)
    yield ago(h=20, m=5)
    stage.approve(workflow_id, "Small enough to read along.")
    yield ago(h=5, m=22)
    run = stage.run(
        workflow_id,
        stage.claude,
        branch="review/long-context",
        commit="9f31c0e",
        budget_usd=40,
        session="cc-long-context-review-04",
    )
    rounds = [
        (ago(h=5, m=20), ago(h=4, m=56), "41 papers, 12 with results of their own.", 41, 12),
        (ago(h=4, m=55), ago(h=4, m=22), "Nine more, by following what those cite.", 50, 21),
        (ago(h=4, m=21), ago(h=4, m=10), "Two more: that is the end.", 52, 23),
    ]
    for began, ended, summary, seen, kept in rounds:
        yield began
        place = run.branch("search")
        run.begin(f"{place}/query", "Searching.")
        yield ended
        if seen == 52:
            run.report_branch(
                place,
                "Nothing new below rank 40.",
                metadata={"indexes": 3},
                artifacts=[
                    {
                        "artifact_id": "candidates",
                        "type": "text/csv",
                        "description": "What was found, best first",
                        "data": texts.CANDIDATES_CSV,
                    }
                ],
            )
        run.done(f"{place}/query", summary, metadata={"seen": seen, "with_results": kept})
    yield ago(h=4, m=8)
    run.close("search", "Three rounds; five papers have tables worth reading.")
    yield ago(h=4, m=7)
    run.report("read", "Five papers, one branch each.")
    for read in (_read_whole, _read_and_superseded, _asks, _reads_tables, _begins):
        stage.meanwhile(read(run))


def _read_whole(run: Played) -> Scene:
    yield ago(h=4, m=6)
    place = run.branch("read", paper="sliding-window-2020", pages=17)
    run.begin(f"{place}/summarise", "Reading.")
    yield ago(h=3, m=34)
    run.done(
        f"{place}/summarise",
        "598 words. The window helps up to 16,000 tokens; beyond that nothing was measured.",
        "Claims in the first half, results in the second.",
        "14 numbers, 14 pages.",
        metadata={"tokens": 88012, "cost_usd": 0.44},
        artifacts=[
            {"type": "text/markdown", "description": "Summary", "ref": "summaries/sliding-window-2020.md"}
        ],
    )
    run.begin(f"{place}/tables", "Five tables, all as text.")
    yield ago(h=2, m=52)
    run.done(
        f"{place}/tables",
        "Five tables, 61 rows.",
        "5 of 5, in columns 2 and 3 of the index.",
        "All five.",
        "61 of 61 within 0.2 %.",
        metadata={"tokens": 140377, "cost_usd": 0.71},
        artifacts=[
            {
                "type": "text/csv",
                "description": "Index of tables",
                "data": "table,caption,page,rows\n1,Perplexity by window,6,12\n2,Time by length,7,12\n",
            }
        ],
    )
    run.begin(f"{place}/check")
    yield ago(h=2, m=12)
    run.done(f"{place}/check", "One number had moved by a digit: 3.42, not 3.24. Corrected.")


def _read_and_superseded(run: Played) -> Scene:
    """A whole branch that doesn't count: another version of the same paper does."""
    yield ago(h=4, m=4)
    place = run.branch("read", paper="block-sparse-2021", pages=14, source="first preprint")
    run.begin(f"{place}/summarise", "Reading.")
    yield ago(h=2, m=59)
    run.done(f"{place}/summarise", "604 words.", "Kept apart.", "Nine numbers, nine pages.")
    run.begin(f"{place}/tables", "Three tables.")
    yield ago(h=2, m=5)
    run.done(f"{place}/tables", "Three tables, 24 rows.", "3 of 3.", "All three.", "24 of 24 within 0.1 %.")
    yield ago(h=1, m=44)
    run.stale(place, "This was the first preprint; the published version counts.", by=run.stage.reviewer)


def _asks(run: Played) -> Scene:
    yield ago(h=1, m=53)
    place = run.branch("read", paper="routing-2022", pages=30, ocr=True)
    run.begin(f"{place}/summarise", "Reading.")
    yield ago(h=1, m=20)
    run.done(
        f"{place}/summarise",
        "Too long at first; 611 words now.",
        "Kept apart, the appendix too.",
        "22 numbers, 22 pages.",
        metadata={"tokens": 90144, "cost_usd": 0.46},
    )
    yield ago(h=1, m=3)
    run.begin(f"{place}/tables", "The PDF is a scan, so the tables must be read from pictures.")
    yield ago(m=47)
    scan = run.ask(
        f"{place}/tables",
        "The PDF is a scan. Read all 30 pages (about $0.60), or only the eleven that hold tables?",
    )
    yield ago(m=42)
    run.answer(f"{place}/tables", scan, text="Only the pages with tables.")
    yield ago(m=32)
    run.report(f"{place}/tables", "Eleven pages read, confidence 0.97.")
    yield ago(m=19)
    run.report(
        f"{place}/tables",
        "Eight tables are clean. Table 3 has no unit; asking.",
        criteria_met={
            "c1": "9 of 9 tables, see the index, columns 2 and 3.",
            "c2": "8 tables. Table 3 is the open question.",
        },
        metadata={"tokens": 212480, "cost_usd": 1.07, "pages": 30, "commit": "9f31c0e"},
        artifacts=[
            {
                "artifact_id": "report-routing-2022",
                "type": "text/markdown",
                "description": "Extraction report",
                "data": texts.TABLES,
            },
            {
                "type": "image/png",
                "description": "Table 3 as scanned",
                "ref": "tables/routing-2022/t3_scan_p14_600dpi_deskewed.png",
            },
        ],
    )
    yield ago(m=18)
    run.ask(
        f"{place}/tables",
        "Table 3 prints the compute without a unit. The text says “×10²¹” once, in a footnote about another model.\n"
        "Take 10²¹ for all rows, or leave the column empty?",
    )
    yield ago(m=12)
    run.comment(
        "report-routing-2022", "The footnote on page 14 is about another model. I would leave it empty."
    )
    yield ago(m=7)
    run.comment("report-routing-2022", "Agreed. Say so in the caption of the CSV too.", by=run.stage.reviewer)


def _reads_tables(run: Played) -> Scene:
    """At work; what its first step found doesn't count any more."""
    yield ago(h=1, m=36)
    place = run.branch("read", paper="state-space-2023", pages=37)
    run.begin(f"{place}/summarise", "Reading.")
    yield ago(m=52)
    run.done(
        f"{place}/summarise", "It has no results of its own below 8,000 tokens.", "Kept apart.", "18 of 18."
    )
    yield ago(m=44)
    run.begin(
        f"{place}/tables", "Twelve tables, four of them across two pages.", metadata={"page": "21 of 37"}
    )
    yield ago(m=26)
    run.stale(f"{place}/summarise", "Read without its appendix, which takes back the second claim.")


def _begins(run: Played) -> Scene:
    yield ago(m=38)
    place = run.branch("read", paper="linear-kernel-2020", pages=12)
    run.begin(f"{place}/summarise", "Reading.", metadata={"page": "5 of 12"})


def an_amendment_that_edits_history(stage: Stage) -> Scene:
    """What was evaluated can't tell two variants apart: train more, evaluate again, drop the old plots."""
    yield ago(d=5, h=3)
    workflow_id = stage.draft(plans.ABLATION, by=stage.codex)
    yield ago(d=4, h=21)
    stage.note(workflow_id, "Is one seed enough?", "evaluate")
    yield ago(d=4, h=20, m=50)
    stage.approve(workflow_id, "Go on; we look at the spread when there is one.")
    yield ago(d=4, h=20)
    run = stage.run(workflow_id, stage.codex, commit="41be07a", machine="8 cards, shared")
    run.begin("implement", "One switch, three kernels.")
    yield ago(d=4, h=9)
    run.done("implement", "All three give the same answers as full attention on inputs of 512 tokens.")
    yield ago(d=4, h=8)
    guard = plans.task("smoke", "Train each variant for 200 steps and look at the loss", "implement")
    run.propose("forward", "A mistake would cost two days of eight cards.", [after("implement", guard)])
    run.begin("smoke")
    yield ago(d=4, h=7)
    run.done("smoke", "All three fall. C begins higher and catches up.")
    for variant, began, ended, loss in (
        ("A", ago(d=4, h=6), ago(d=3, h=4), 2.9412),
        ("B", ago(d=3, h=3), ago(d=2, h=1), 2.8685),
        ("C", ago(d=2), ago(d=1, h=1, m=20), 2.8645),
    ):
        yield began
        place = run.branch("train", variant=variant)
        run.begin(f"{place}/train-one", f"Training {variant}.")
        yield ended
        run.done(f"{place}/train-one", f"60,000 steps, loss {loss}.", metadata={"loss": loss, "steps": 60000})
    run.close("train", "All three are trained.")
    yield ago(d=1, h=1)
    run.begin("evaluate", "Evaluating.")
    yield ago(h=21, m=58)
    run.done(
        "evaluate",
        "A 18.94, B 17.61, C 17.54.",
        "See perplexity.md, one number for each.",
        "perplexity.csv, three rows.",
        metadata={"tokens": 4194304, "seed": 1},
        artifacts=[
            {
                "artifact_id": "perplexity",
                "type": "text/markdown",
                "description": "Perplexity of the three variants",
                "data": texts.PERPLEXITY,
            },
            {"type": "text/csv", "description": "The same as numbers", "data": texts.PERPLEXITY_CSV},
        ],
    )
    yield ago(h=16, m=30)
    run.comment("perplexity", "0.07 between B and C. How far does C alone move?")
    yield ago(h=3, m=14)
    evaluate, results = plans.ABLATION["steps"][3], plans.ABLATION["steps"][5]
    run.propose(
        "history_edit",
        "One seed can't separate B from C: they differ by 0.07, and two short reruns of C alone moved by 0.11."
        " The table would claim an order that the data don't carry.",
        [
            after(
                "train",
                plans.task(
                    "more-seeds",
                    "Train B and C with two more seeds",
                    "train",
                    criteria=[
                        "Two more seeds each reach 60,000 steps",
                        "The settings differ in nothing but the seed",
                    ],
                ),
            ),
            update(
                evaluate
                | {
                    "goal": "Evaluate on the held-out set, three seeds, mean and spread",
                    "depends_on": ["train", "more-seeds"],
                    "criteria": [
                        evaluate["criteria"][0],
                        "A table with mean and standard deviation for each variant",
                        "The difference between B and C is larger than the spread, or said not to be",
                    ],
                }
            ),
            replay("evaluate"),
            update(results | {"depends_on": ["evaluate"]}),
            remove("plot-old"),
        ],
    )


SCENES = (papers_with_a_question_open, an_amendment_that_edits_history)
