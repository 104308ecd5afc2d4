"""Full-text search by the beginnings of words, the same on both databases (contract 1, ``?q=``).

Chief cuts texts into words itself: compatibility forms are made equal, case is folded, and everything that is neither
letter nor digit separates, so ``wf_ab-12`` is ``wf``, ``ab`` and ``12``. What is stored are these words, each once; a
query finds a row when each of its words begins one of them. SQLite keeps them in FTS5, PostgreSQL in a ``tsvector``
under a GIN index; neither cuts or folds anything of its own.

Services keep an entry current with ``index`` and ``remove``; selectors narrow a queryset with ``matching``.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Final, Literal

from django.db import connection
from django.db.models import Q
from django.db.models.expressions import RawSQL

Kind = Literal["workflow", "run", "template"]
KINDS: Final[tuple[Kind, ...]] = ("workflow", "run", "template")

_WORD = re.compile(r"[^\W_]+")
_LONGEST_WORD = 200  # a word is compared by this many characters; PostgreSQL takes 2,046 bytes
_MOST_BYTES = 400_000  # of one entry's words: PostgreSQL takes a megabyte
_REMOVED_AT_ONCE = 10_000


def words(text: str) -> list[str]:
    """The words of a text as they are compared, in order, repeats included."""
    return [word[:_LONGEST_WORD] for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold())]


def index(kind: Kind, pk: int, texts: Iterable[str]) -> None:
    """Make ``texts`` what finds the row ``pk``, replacing what did. What matters most comes first: an entry keeps its
    first 400,000 bytes of different words. One statement, in the service's own transaction.
    """
    kept = _within_limit(dict.fromkeys(words("\n".join(texts))))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"INSERT INTO {_table(kind)} (pk, words) VALUES (%s, array_to_tsvector(%s::text[]))"  # noqa: S608
                " ON CONFLICT (pk) DO UPDATE SET words = excluded.words",
                [pk, kept],
            )
        else:
            cursor.execute(
                f"INSERT OR REPLACE INTO {_table(kind)} (rowid, words) VALUES (%s, %s)",  # noqa: S608
                [pk, " ".join(kept)],
            )


def remove(kind: Kind, pks: Iterable[int]) -> None:
    """Forget the entries of deleted rows."""
    column = "pk" if connection.vendor == "postgresql" else "rowid"
    gone = list(pks)
    with connection.cursor() as cursor:
        for start in range(0, len(gone), _REMOVED_AT_ONCE):
            batch = gone[start : start + _REMOVED_AT_ONCE]
            places = ", ".join(["%s"] * len(batch))
            cursor.execute(f"DELETE FROM {_table(kind)} WHERE {column} IN ({places})", batch)  # noqa: S608


def matching(kind: Kind, q: str | None, *, field: str = "pk") -> Q:
    """A condition for ``filter``: rows whose ``field`` (``pk``, or a key that leads there) is found by ``q``.

    Every word of ``q`` must begin a word of the entry. No query, or a blank one, is no condition; one without a
    letter or digit finds nothing. Any text will do.
    """
    if q is None or not q.strip():
        return Q()
    asked = _asked(q)
    if not asked:
        return Q(pk__in=[])
    if connection.vendor == "postgresql":
        sql = f"SELECT pk FROM {_table(kind)} WHERE words @@ %s::tsquery"  # noqa: S608
        expression = " & ".join(f"'{word}':*" for word in asked)
    else:
        sql = f"SELECT rowid FROM {_table(kind)} WHERE {_table(kind)} MATCH %s"  # noqa: S608
        expression = " AND ".join(f'"{word}"*' for word in asked)
    return Q(**{f"{field}__in": RawSQL(sql, [expression])})  # noqa: S611 - words are letters and digits


def create_tables(schema_editor: Any) -> None:
    """For the migration: one table per kind."""
    for kind in KINDS:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(
                f"CREATE TABLE {_table(kind)} (pk bigint PRIMARY KEY, words tsvector NOT NULL)"
            )
            schema_editor.execute(f"CREATE INDEX {_table(kind)}_words ON {_table(kind)} USING gin (words)")
        else:
            schema_editor.execute(
                f"CREATE VIRTUAL TABLE {_table(kind)} USING fts5"
                "(words, tokenize='ascii', prefix='2 3', detail='none', columnsize=0)"
            )


def drop_tables(schema_editor: Any) -> None:
    """For the migration's way back."""
    for kind in KINDS:
        schema_editor.execute(f"DROP TABLE {_table(kind)}")


def _table(kind: Kind) -> str:
    assert kind in KINDS
    return f"shared_search_{kind}"


def _within_limit(found: Iterable[str]) -> list[str]:
    kept = list(found)
    left = _MOST_BYTES
    if 4 * sum(map(len, kept)) <= left:
        return kept
    for place, word in enumerate(kept):
        left -= len(word.encode())
        if left < 0:
            return kept[:place]
    return kept


def _asked(q: str) -> list[str]:
    """The words of a query, without those that begin another (they are found with it)."""
    asked: list[str] = []
    for word in sorted(set(words(q)), reverse=True):  # a word stands right after those that it begins
        if not (asked and asked[-1].startswith(word)):
            asked.append(word)
    return asked
