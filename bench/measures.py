"""The measurements, each a table. What is compared is measured in turns, so that a slow moment meets all alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from bench import database, subjects
from bench.client import Client
from bench.tables import milliseconds, ratio, spread, table
from chief_project.shared.caller import Caller
from chief_project.shared.principals import token_cache
from tests.branches import KINDS, STARTS, Branches, Kind, run_with

SIZES = (10, 100, 1_000, 10_000)
MINIMAL = {"prefer": "return=minimal"}
WARM_UP = 10
Seconds = list[float]


# SQLite works in this process, so that there the processor's time can be compared: it doesn't count the moments in
# which another program had the processor.
BUSY = () if database.is_postgresql() else ("of processor time",)


def _busy(these: Sequence[tuple[float, float]], those: Sequence[tuple[float, float]]) -> list[str]:
    """The ratio of processor times, where it says something."""
    return [f"{ratio([busy for _, busy in these], [busy for _, busy in those]):.2f} ×"] * len(BUSY)


class Bench:
    """The client, the runs, and how many rounds to make."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.by: Caller = subjects.person()
        self.client: Client = subjects.client()
        self.runs = {size: run_with(size, self.by, run_id=f"branches-{size}") for size in SIZES}
        self._pick = random.Random(1)
        self._branch: dict[int, int] = {}

    def all(self) -> None:
        """Every table."""
        self.growth()
        self.statements()
        self.against_bare_sql()
        self.creation()
        self.reading()
        self.others()

    # -- a -------------------------------------------------------------------------------------------

    def growth(self) -> None:
        """A report at each number of branches."""
        taken: dict[int, Seconds] = {size: [] for size in SIZES}
        for turn in range(WARM_UP + self.rounds):
            for size, seconds in self._toggle(turn).items():
                if turn >= WARM_UP:
                    taken[size].append(seconds)
        table(
            "a. A report on a body's step, `Prefer: return=minimal`, by registered branches",
            ["branches", "median", "middle half, ms", "against 10 branches", "aim"],
            [
                [
                    f"{size:,}",
                    milliseconds(taken[size]),
                    spread(taken[size]),
                    f"{ratio(taken[size], taken[10]):.2f} ×",
                    "at most 1.2 ×" if size == SIZES[-1] else "",
                ]
                for size in SIZES
            ],
        )
        print(
            f"\n{self.rounds} reports at each size, in turns; the step goes from pending to running and back."
        )

    def _toggle(self, turn: int) -> dict[int, float]:
        """One report at each size, on a branch of it: running in one turn, back to pending in the next."""
        report = STARTS | {"status": ("running", "pending")[turn % 2]}
        if turn % 2 == 0:
            self._branch = {size: self._pick.randrange(size) for size in SIZES}
        order = self._pick.sample(SIZES, len(SIZES))
        return {size: self._report(self.runs[size], self._branch[size], report) for size in order}

    def _report(self, run: Branches, branch: int, report: dict[str, Any]) -> float:
        return self.client.post(run.report_to(branch), report, **MINIMAL).seconds

    # -- b -------------------------------------------------------------------------------------------

    def statements(self) -> None:
        """How many statements each kind of report takes."""
        rows = []
        for kind in KINDS:
            counts = [self._count(kind, size) for size in (SIZES[0], SIZES[-1])]
            rows.append([kind.name, *map(str, counts), f"at most {kind.at_most}"])
        table(
            "b. Statements of a report, BEGIN and COMMIT counted",
            ["a report that …", "10 branches", "10,000 branches", "aim"],
            rows,
        )

    def _count(self, kind: Kind, size: int) -> int:
        name = f"counted-{KINDS.index(kind)}-{size}"
        run = run_with(size, self.by, run_id=name, deep=kind.deep, policy=kind.policy)
        branch = size // 2
        run.dig(branch, self.by)
        for report in kind.before:
            self._report(run, branch, report)
        headers = MINIMAL | ({"idempotency_key": name} if kind.key else {})
        return self._counted(lambda: self.client.post(run.report_to(branch), kind.report, **headers))

    def _counted(self, act: Callable[[], Any]) -> int:
        """Statements, with the token in the process's cache, where it stays for a few seconds."""
        token_cache.forget()
        self.client.get("/v1/me")
        return database.count(act)

    # -- c -------------------------------------------------------------------------------------------

    def against_bare_sql(self) -> None:
        """A request against its own statements through the driver alone."""
        run, driver = run_with(1_000, self.by, run_id="bare"), database.Driver()
        whole: list[tuple[float, float]] = []
        bare: list[tuple[float, float]] = []

        def ask(branch: int) -> None:
            answer = self.client.post(run.report_to(branch), STARTS, **MINIMAL)
            whole.append((answer.seconds, answer.busy))

        def replay(branch: int) -> None:
            """A rehearsal's values fit the rows as they are then, so the replay comes at once."""
            bare.append(driver.replay(self._rehearsed(run, branch)))

        rounds = min(self.rounds, 450)
        for turn in range(WARM_UP + rounds):
            for place, act in enumerate((ask, replay) if turn % 2 else (replay, ask)):
                act(2 * turn + place)
        aim = 2.2 if database.is_postgresql() else 12
        took = [[seconds for seconds, _ in taken[WARM_UP:]] for taken in (bare, whole)]
        table(
            "c. A report's whole server time against its own statements through the driver alone",
            ["", "median", "middle half, ms", "ratio", "aim", *BUSY],
            [
                ["the statements", milliseconds(took[0]), spread(took[0]), "", "", *([""] * len(BUSY))],
                [
                    "the request",
                    milliseconds(took[1]),
                    spread(took[1]),
                    f"{ratio(took[1], took[0]):.2f} ×",
                    f"at most {aim} ×",
                    *_busy(whole[WARM_UP:], bare[WARM_UP:]),
                ],
            ],
        )
        print(f"\n{rounds} of each, in turns; nine statements.")

    def _rehearsed(self, run: Branches, branch: int) -> list[database.Statement]:
        return database.rehearse(lambda: self._report(run, branch, STARTS))

    # -- d -------------------------------------------------------------------------------------------

    def creation(self) -> None:
        """``POST /v1/workflows`` against the INSERTs of the plan's rows."""
        rows, driver = [], database.Driver()
        aim = 3 if database.is_postgresql() else 6
        for steps, rounds in ((50, 100), (500, 30), (5_000, 10)):
            rounds = max(3, rounds * self.rounds // 300)
            body = subjects.plan_of(steps)
            whole: list[tuple[float, float]] = []
            many: list[tuple[float, float]] = []
            one: list[tuple[float, float]] = []
            for _ in range(2 + rounds):
                one.append(driver.replay(self._inserts(body)))
                many.append(driver.replay(database.many_at_once(self._inserts(body))))
                answer = self.client.post("/v1/workflows", body)
                whole.append((answer.seconds, answer.busy))
            took = [[seconds for seconds, _ in taken[2:]] for taken in (whole, many, one)]
            best = 1 if median(took[1]) < median(took[2]) else 2
            rows.append(
                [
                    f"{steps:,}",
                    *map(milliseconds, took),
                    f"{ratio(took[0], took[best]):.2f} ×",
                    f"at most {aim} ×",
                    *_busy(whole[2:], (whole, many, one)[best][2:]),
                    str(rounds),
                ]
            )
        table(
            "d. `POST /v1/workflows` against the bare INSERTs of its rows (the quicker way counts)",
            [
                "steps",
                "the request",
                "INSERTs of many rows",
                "executemany",
                "ratio",
                "aim",
                *BUSY,
                "samples",
            ],
            rows,
        )

    def _inserts(self, body: dict[str, Any]) -> list[database.Statement]:
        with database.inserts_row_by_row():
            said = database.rehearse(lambda: self.client.post("/v1/workflows", body))
        return [(sql, params) for sql, params in said if sql.startswith("INSERT")]

    # -- e -------------------------------------------------------------------------------------------

    def reading(self) -> None:
        """A whole run, and hearing that it hasn't changed."""
        small, large = self.runs[SIZES[0]], self.runs[SIZES[-1]]
        rows = []
        for run, rounds in ((small, self.rounds // 3), (large, max(3, self.rounds // 40))):
            path = f"/v1/runs/{run.run_id}"
            answers = [self.client.get(path) for _ in range(rounds)]
            rows.append(
                [
                    f"{run.count:,}",
                    milliseconds([answer.seconds for answer in answers]),
                    f"{len(answers[0].body):,}",
                    str(self._counted(lambda path=path: self.client.get(path))),
                    "at most 12 statements",
                    str(rounds),
                ]
            )
        table(
            "e. `GET /v1/runs/{id}`: the whole tree",
            ["branches", "median", "bytes", "statements", "aim", "samples"],
            rows,
        )
        taken: dict[int, Seconds] = {small.count: [], large.count: []}
        tags = {
            run.count: self.client.get(f"/v1/runs/{run.run_id}").headers["ETag"] for run in (small, large)
        }
        for _ in range(self.rounds):
            for run in (small, large):
                answer = self.client.get(f"/v1/runs/{run.run_id}", if_none_match=tags[run.count])
                assert answer.status == 304
                taken[run.count].append(answer.seconds)
        self._pair("e. The same with `If-None-Match`: 304", "the same at both", small, large, taken)

    def _pair(
        self, title: str, aim: str, small: Branches, large: Branches, taken: dict[int, Seconds]
    ) -> None:
        table(
            title,
            ["branches", "median", "middle half, ms", "ratio", "aim"],
            [
                [f"{small.count:,}", milliseconds(taken[small.count]), spread(taken[small.count]), "", ""],
                [
                    f"{large.count:,}",
                    milliseconds(taken[large.count]),
                    spread(taken[large.count]),
                    f"{ratio(taken[large.count], taken[small.count]):.2f} ×",
                    aim,
                ],
            ],
        )
        print(f"\n{len(taken[small.count])} and {len(taken[large.count])} samples, in turns.")

    # -- f -------------------------------------------------------------------------------------------

    def others(self) -> None:
        """What has no bound of its own."""
        self._full_against_minimal()
        self._in_turns(
            "f. Registering an instance, `Prefer: return=minimal`",
            self.rounds,
            lambda run: self.client.post(f"/v1/runs/{run.run_id}/steps/fan/instances", {}, **MINIMAL).seconds,
        )
        self._in_turns(
            "f. `GET /v1/runs/{id}/next`",
            max(5, self.rounds // 20),
            lambda run: self.client.get(f"/v1/runs/{run.run_id}/next").seconds,
            small_ones=5,  # the one after a long request finds the caches cold and its turn of the processor used up
        )

    def _full_against_minimal(self) -> None:
        rows = []
        for size, rounds in ((10, 60), (1_000, 20), (10_000, 6)):
            rounds = max(3, rounds * self.rounds // 300)
            run, whole, minimal = self.runs[size], [], []
            for turn in range(2 * rounds):
                report = STARTS | {"status": ("running", "pending")[turn % 2]}
                minimal.append(self._report(run, size // 2, report))
                whole.append(self.client.post(run.report_to(size // 3), report).seconds)
            rows.append([f"{size:,}", milliseconds(minimal), milliseconds(whole), str(2 * rounds)])
        table(
            "f. A report that is answered with the whole RunState",
            ["branches", "minimal", "whole RunState", "samples"],
            rows,
        )

    def _in_turns(
        self, title: str, rounds: int, act: Callable[[Branches], float], small_ones: int = 1
    ) -> None:
        small, large = self.runs[SIZES[0]], self.runs[SIZES[-1]]
        taken: dict[int, Seconds] = {small.count: [], large.count: []}
        for turn in range(WARM_UP // 2 + rounds):
            for run in (*[small] * small_ones, large):
                seconds = act(run)
                if turn >= WARM_UP // 2:
                    taken[run.count].append(seconds)
        self._pair(title, "", small, large, taken)
