"""Threads that live on, and their database connections with them, for work that an event loop hands over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from django.db import close_old_connections, connections

Work = tuple["Future[Any]", Callable[[], Any]]


class DatabaseThreads:
    """``await run(function, …)`` runs it on one of ``most`` threads; ``close`` ends them.

    Unlike those of an executor, each thread closes its connections when it ends.
    """

    def __init__(self, most: int, name: str) -> None:
        self.most = most
        self.name = name
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._free = 0  # threads that wait for work, less the work that waits for them
        self._lock = threading.Lock()

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What ``function`` returns or raises; who is cancelled meanwhile leaves it running to its end."""
        future: Future[Any] = Future()
        with self._lock:
            self._work.put((future, lambda: function(*arguments)))
            self._free -= 1
            if self._free < 0 and len(self._threads) < self.most:
                thread = threading.Thread(
                    target=self._live, name=f"{self.name}-{len(self._threads)}", daemon=True
                )
                self._threads.append(thread)
                self._free += 1
                thread.start()
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """End every thread when what was handed over is done."""
        with self._lock:
            threads, self._threads = self._threads, []
            self._free -= len(threads)
            for _ in threads:
                self._work.put(None)
        for thread in threads:
            thread.join()

    def _live(self) -> None:
        try:
            while (work := self._work.get()) is not None:
                future, function = work
                if future.set_running_or_notify_cancel():
                    _carry_out(future, function)
                with self._lock:
                    self._free += 1
        finally:
            connections.close_all()


def _carry_out(future: Future[Any], function: Callable[[], Any]) -> None:
    close_old_connections()
    try:
        result = function()
    except BaseException as problem:
        future.set_exception(problem)
    else:
        future.set_result(result)
    finally:
        close_old_connections()
