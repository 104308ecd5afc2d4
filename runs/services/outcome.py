"""What a write to a run answers (contract 1): the minimal answer, and the whole document when it is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunWrite:
    """``minimal`` is ready; ``full()`` reads the whole answer, and belongs in the same transaction."""

    minimal: Document
    full: Callable[[], Document]
