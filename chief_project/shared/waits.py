"""Waiting for a decision without holding anything: no thread, no database connection (contract 1 and 10).

Whoever waits is a future on the event loop. One task per process asks, while anybody waits, what became of all the
things that are waited for: one query per kind, on one thread, about once a second. So it works however many
processes there are, and a decision that fell while nobody waited is seen at the first look.
"""

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

logger = logging.getLogger("chief.waits")

MOST_SECONDS = 50
EVERY_SECONDS = 0.7
SOONEST_SECONDS = 0.05  # a newcomer is looked at so soon, and no look follows another sooner

Facts = Any
"""What a decision is recognised by: small, of one app, read in bulk."""
Reader = Callable[[Collection[str]], Mapping[str, Facts]]
"""The facts of these ids; an id that is gone is missing. Runs on a thread."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What is waited for: ``done`` says of the facts whether it has come; of None too, when the thing is gone."""

    kind: str
    id: str
    done: Callable[[Facts | None], bool]


class Waits:
    """All that is waited for in this process, on one event loop.

    ``readers`` reads the facts of each kind; ``run`` runs a function on a thread that may use the database.
    """

    def __init__(
        self,
        readers: Mapping[str, Reader],
        run: Callable[..., Any],
        *,
        every: float = EVERY_SECONDS,
    ) -> None:
        self.readers = readers
        self.run = run
        self.every = every
        self._waiting: dict[asyncio.Future[Facts | None], Watch] = {}
        self.ending = False
        self._looking: asyncio.Task[None] | None = None
        self._come = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    async def until(self, watch: Watch, seconds: float) -> bool:
        """Wait until ``watch`` is done, ``seconds`` at most; whether it is."""
        try:
            await self.facts(watch, seconds)
        except TimeoutError:
            return False
        return True

    async def facts(self, watch: Watch, seconds: float) -> Facts | None:
        """Wait until ``watch`` is done: the facts that it is done by, None if what it names is gone.

        ``TimeoutError`` after ``seconds``, or when the server stops.
        """
        if seconds <= 0 or self.ending:
            raise TimeoutError
        future: asyncio.Future[Facts | None] = asyncio.get_running_loop().create_future()
        self._waiting[future] = watch
        self._come.set()
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            return await asyncio.wait_for(future, seconds)
        finally:  # a client that left is cancelled here, and forgotten
            self._waiting.pop(future, None)

    def let_go(self) -> None:
        """The server stops: whoever waits is answered now, as it stands, and nobody waits any more."""
        self.ending = True
        for future in self._waiting:
            if not future.done():
                future.set_exception(TimeoutError())

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """While the server runs; whoever still waits at its end is let go."""
        self.ending = False
        try:
            with _told_to_stop(self.let_go):
                yield
        finally:
            if self._looking is not None:
                self._looking.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._looking

    async def _look(self) -> None:
        while self._waiting:
            self._come.clear()
            asked = dict(self._waiting)
            wanted: dict[str, set[str]] = {}
            for watch in asked.values():
                wanted.setdefault(watch.kind, set()).add(watch.id)
            try:
                found = await self.run(self._read, wanted)
            except (
                Exception
            ):  # the database is away for a moment: whoever waits goes on, and is told when it asks
                logger.warning("could not look for what is waited for", exc_info=True)
            else:
                for future, watch in asked.items():
                    seen = found[watch.kind].get(watch.id)
                    if not future.done() and watch.done(seen):
                        future.set_result(seen)
            await asyncio.sleep(SOONEST_SECONDS)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._come.wait(), self.every)

    def _read(self, wanted: Mapping[str, Collection[str]]) -> dict[str, Mapping[str, Facts]]:
        return {kind: self.readers[kind](ids) for kind, ids in wanted.items()}


@contextlib.contextmanager
def _told_to_stop(act: Callable[[], None]) -> Iterator[None]:
    """Inside, ``act`` runs on the loop as soon as the process is told to stop, beside what the server does then.

    The server itself would first wait for every open answer, and so for everybody who waits.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    theirs = {number: handler for number, handler in handlers.items() if callable(handler)}

    def stop(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(act)
        theirs[signal.Signals(number)](number, frame)

    for number in theirs:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in theirs.items():
            signal.signal(number, handler)
