"""Threads that live on, and their database connections with them, for work that an event loop hands over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import close_old_connections, connections


class DatabaseThreads:
    """``await run(function, …)`` runs it on one of ``most`` threads; ``close`` ends them and their connections."""

    def __init__(self, most: int, name: str) -> None:
        self.most = most
        self.name = name
        self._pool: ThreadPoolExecutor | None = None
        self._begun = 0
        self._lock = threading.Lock()

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What ``function`` returns or raises; who is cancelled meanwhile leaves it running to its end."""
        with self._lock:
            if self._pool is None:
                self._begun = 0
                self._pool = ThreadPoolExecutor(self.most, self.name, initializer=self._begin)
            pool = self._pool
        return await asyncio.get_running_loop().run_in_executor(pool, _fresh, function, *arguments)

    def close(self) -> None:
        """Wait for what runs, close every thread's connections, and end the threads."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is None:
            return
        if self._begun:
            together = threading.Barrier(self._begun)
            ends = [pool.submit(_leave, together) for _ in range(self._begun)]
            for end in ends:
                end.result()
        pool.shutdown()

    def _begin(self) -> None:
        self._begun += 1


def _fresh(function: Callable[..., Any], *arguments: Any) -> Any:
    close_old_connections()
    try:
        return function(*arguments)
    finally:
        close_old_connections()


def _leave(together: threading.Barrier) -> None:
    """Each thread does it once, for each waits until all do."""
    connections.close_all()
    together.wait(30)
