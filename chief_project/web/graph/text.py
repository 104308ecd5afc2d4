"""How wide a text will be, and how it breaks into lines, without a browser.

Widths are those of common system faces (Helvetica's and its metric twins), in thousandths of the size, and taken three
hundredths wide, so that the other faces of the stack fit as well.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from chief_project.shared.text.plain import unmarked

_WIDTHS: dict[str, int] = {
    **dict.fromkeys("ijl'|", 222),
    **dict.fromkeys("ftI!,./:;\\[] ", 278),
    **dict.fromkeys('r()-`{}"', 340),
    **dict.fromkeys("ckszvxyJ^*", 500),
    **dict.fromkeys("abdeghnopquL0123456789_#$?", 556),
    **dict.fromkeys("FTZ+<>=~", 600),
    **dict.fromkeys("ABEKPSVXY&", 667),
    **dict.fromkeys("CDHNRUw", 722),
    **dict.fromkeys("GOQ", 778),
    **dict.fromkeys("mM", 833),
    **dict.fromkeys("W@%—…", 960),
}
_WIDER = 1.03
_BOLD = 1.07
_MONO = 0.602
_BIDI = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F])
_CONTROL = dict.fromkeys([*range(32), *range(127, 160), 0x2028, 0x2029], " ")
_CLEAN: dict[int, str | None] = {**_BIDI, **_CONTROL}
_BREAKS = re.compile(r"[^-_/=:.]*[-_/=:.]+|[^-_/=:.]+")


def plain(text: str) -> str:
    """One line without control and direction characters, which could draw over what stands beside it."""
    return " ".join(text.translate(_CLEAN).split())


def spoken(text: str) -> str:
    """A goal on one line as its panel shows it: without the marks of code and of strong text."""
    return plain(unmarked(text))


@lru_cache(maxsize=4096)
def _char(char: str) -> int:
    known = _WIDTHS.get(char)
    if known is not None:
        return known
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    if unicodedata.east_asian_width(char) in {"W", "F"}:
        return 1000
    return 600 if char.islower() else 720


def width(text: str, size: float = 13, *, bold: bool = False, mono: bool = False) -> float:
    """The width of a line in pixels at ``size`` pixels."""
    if mono:
        wide = sum(_char(char) >= 1000 for char in text)
        return (len(text) + wide) * _MONO * size * _WIDER
    return sum(map(_char, text)) * size / 1000 * _WIDER * (_BOLD if bold else 1)


def clip(text: str, room: float, size: float = 13, *, bold: bool = False, mono: bool = False) -> str:
    """``text``, or as much of its beginning as fits before an ellipsis."""
    if width(text, size, bold=bold, mono=mono) <= room:
        return text
    room -= width("…", size, bold=bold, mono=mono)
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if width(text[:middle], size, bold=bold, mono=mono) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…"


def clip_middle(text: str, room: float, size: float = 11) -> str:
    """An identifier that keeps its beginning and its end, in the mono face."""
    most = int(room / (_MONO * size * _WIDER))
    if len(text) <= most:
        return text
    if most < 5:
        return text[: max(1, most - 1)] + "…"
    tail = (most - 1) * 2 // 3
    return text[: most - 1 - tail] + "…" + text[-tail:]


def fitting(facts: Sequence[tuple[str, str]], count: int, room: float) -> str:
    """As many of ``facts`` as fit whole, in the mono face, and how many of ``count`` are left; a value is never cut, the
    first one's name may be, and the count be missing then. Empty where there is no room for that.
    """
    shown = whole = ""
    for number, (name, value) in enumerate(facts, 1):
        whole += f", {name}={value}" if whole else f"{name}={value}"
        said = whole + (f" +{count - number}" if count > number else "")
        if width(said, 11, mono=True) > room:
            break
        shown = said
    if shown or not facts:
        return shown
    name, value = facts[0]
    for end in (f"={value} +{count - 1}", f"={value}") if count > 1 else (f"={value}",):
        left = room - width(end, 11, mono=True)
        if left >= width("ab…", 11, mono=True):
            return clip(name, left, 11, mono=True) + end
    return ""


def wrap(text: str, room: float, lines: int, size: float = 13) -> tuple[str, ...]:
    """``text`` in at most ``lines`` lines of ``room`` pixels; the last ends on an ellipsis where more would follow.

    It breaks between words, and words that are too long where identifiers are read: after ``- _ / = : .``.
    """
    return _wrapped(
        plain(text[: 40 + int(lines * room)]), room, lines, size
    )  # no letter is narrower than two pixels


@lru_cache(maxsize=8192)
def _wrapped(text: str, room: float, lines: int, size: float) -> tuple[str, ...]:
    done: list[str] = []
    line = ""
    pieces = _pieces(text, room, size)
    for place, (space, piece) in enumerate(pieces):
        wider = f"{line} {piece}" if line and space else line + piece
        if width(wider, size) <= room or not line:
            line = wider
            continue
        if len(done) == lines - 1:
            rest = "".join((" " if gap else "") + other for gap, other in pieces[place:])
            return (*done, clip(line + rest, room, size))
        done.append(line)
        line = piece
    return (*done, line) if line else tuple(done)


def _pieces(text: str, room: float, size: float) -> list[tuple[bool, str]]:
    """What may stand on lines of its own, each with whether a space goes before it."""
    found: list[tuple[bool, str]] = []
    for word in text.split(" "):
        if width(word, size) <= room:
            found.append((True, word))
            continue
        space = True
        for part in _BREAKS.findall(word):
            for bit in _chopped(part, room, size):
                found.append((space, bit))
                space = False
    return found


def _chopped(part: str, room: float, size: float) -> list[str]:
    found = []
    while width(part, size) > room:
        fits = max(1, len(clip(part, room, size)) - 1)
        found.append(part[:fits])
        part = part[fits:]
    return [*found, part] if part else found
