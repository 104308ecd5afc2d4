"""JSON pointers (RFC 6901): how a refusal says where."""

from collections.abc import Iterable

LONGEST_KEY = 200  # no name of ours is longer; a client's, which may be megabytes, is cut


def pointer(where: Iterable[str | int]) -> str:
    """``("steps", 3, "a/b")`` as ``/steps/3/a~1b``; nothing is the whole document.

    Keys come from clients: a lone surrogate in one is shown as ``?``, because an answer is UTF-8.
    """
    text = "".join(f"/{_cut(str(token)).replace('~', '~0').replace('/', '~1')}" for token in where)
    return text.encode("utf-8", "replace").decode()


def _cut(key: str) -> str:
    return key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}…"
