"""Bring the German catalogue up to date with the pages' texts, and compile it.

    .venv/bin/python -m tests.project.translations

New texts stand in `locale/de/LC_MESSAGES/django.po` without a translation afterwards, and what no page says any
more is gone. The files hold no dates and no line numbers, so a change shows nothing but texts.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from babel.messages import pofile
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_python
from babel.messages.mofile import write_mo
from django.conf import settings
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[2]
PO = ROOT / "locale/de/LC_MESSAGES/django.po"
MO = PO.with_suffix(".mo")
CODE = ("chief_project", "workflows", "runs", "amendments")
HEADER = """\
# Chief in German. Brought up to date by `python -m tests.project.translations`; the translations are written here.
#"""

CONTEXT = (1, "c")
# What each function's arguments are: a text, its plural, or (with a c) its context.
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...]] = {
    "_": (1,),
    "gettext": (1,),
    "gettext_lazy": (1,),
    "gettext_noop": (1,),
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": (CONTEXT, 2),
    "pgettext_lazy": (CONTEXT, 2),
    "npgettext": (CONTEXT, 2, 3),
    "npgettext_lazy": (CONTEXT, 2, 3),
}


class Undated(Catalog):
    """A catalogue whose header says only what reading it takes, so that the same texts make the same file."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:  # type: ignore[override]
        return [
            ("Content-Type", "text/plain; charset=UTF-8"),
            ("Language", str(self.locale)),
            ("Plural-Forms", self.plural_forms),
        ]


Text = tuple[str | None, tuple[str, ...]]  # a context, and a text or a text and its plural


def texts() -> dict[Text, Path]:
    """Every text that is marked for translation, with the first file that says it."""
    found: dict[Text, Path] = {}
    for path in sorted((ROOT / "templates").rglob("*.html")):
        # Without its indentation, which Python would read.
        source = "\n".join(map(str.strip, templatize(path.read_text("utf-8")).splitlines()))
        for text in _in_python(source):
            found.setdefault(text, path.relative_to(ROOT))
    for package in CODE:
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text("utf-8")
            for text in _in_python(source) if "gettext" in source else []:
                found.setdefault(text, path.relative_to(ROOT))
    return found


def _in_python(source: str) -> list[Text]:
    calls = extract_python(io.BytesIO(source.encode()), list(KEYWORDS), [], {"encoding": "utf-8"})
    found = []
    for _, name, said, _ in calls:
        arguments = said if isinstance(said, tuple) else (said,)
        context = arguments[0] if CONTEXT in KEYWORDS[name] else None
        told = [arguments[place - 1] for place in KEYWORDS[name] if isinstance(place, int)]
        if all(told):  # else it is a text out of a table, which marks it with gettext_noop
            found.append((context, tuple(map(str, told))))
    return found


def read() -> Catalog:
    """The catalogue as it stands in the file."""
    if not PO.exists():
        return Catalog(locale="de")
    with PO.open("rb") as file:
        return pofile.read_po(file, locale="de", abort_invalid=True)


def updated(old: Catalog) -> Catalog:
    """The texts of today with the translations there are."""
    new = Undated(locale="de", header_comment=HEADER, fuzzy=False)
    for context, said in sorted(texts(), key=lambda text: (text[1], text[0] or "")):
        known = old.get(said[0], context)
        same = known is not None and known.id == (said if said[1:] else said[0])
        new.add(said if said[1:] else said[0], known.string if known and same else None, context=context)
    return new


def as_po(catalog: Catalog) -> bytes:
    """The file for people: what `msgfmt` and every editor of catalogues reads."""
    file = io.BytesIO()
    pofile.write_po(file, catalog, width=0)
    return file.getvalue()


def as_mo(catalog: Catalog) -> bytes:
    """The file for Django: the same, compiled."""
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def main() -> int:
    settings.configure()
    catalog = updated(read())
    PO.parent.mkdir(parents=True, exist_ok=True)
    PO.write_bytes(as_po(catalog))
    MO.write_bytes(as_mo(catalog))
    where = texts()
    for message in untranslated(catalog):
        text = message.context, ids(message)
        sys.stdout.write(f"untranslated, in {where[text]}: {ids(message)[0]}\n")
    return 1 if untranslated(catalog) else 0


def untranslated(catalog: Catalog) -> list[Message]:
    """What still needs words."""
    return [message for message in catalog if message.id and not all(strings(message))]


def strings(message: Message) -> tuple[str, ...]:
    """A translation's forms: one, or one for each plural form of the language."""
    return message.string if isinstance(message.string, tuple) else (message.string,)


def ids(message: Message) -> tuple[str, ...]:
    """The text in English, and its plural where it has one."""
    return message.id if isinstance(message.id, tuple) else (message.id,)


if __name__ == "__main__":
    sys.exit(main())
