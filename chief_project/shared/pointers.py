"""JSON pointers (RFC 6901): how a refusal says where."""

from collections.abc import Iterable


def pointer(where: Iterable[str | int]) -> str:
    """``("steps", 3, "a/b")`` as ``/steps/3/a~1b``; nothing is the whole document.

    Keys come from clients: a lone surrogate in one is shown as ``?``, because an answer is UTF-8.
    """
    text = "".join(f"/{str(token).replace('~', '~0').replace('/', '~1')}" for token in where)
    return text.encode("utf-8", "replace").decode()
