"""The German catalogue: complete, of today's texts, and compiled as it stands."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from babel.messages.catalog import Catalog, Message
from django.utils import translation
from django.utils.translation import gettext, ngettext, pgettext

from tests.project.translations import MO, PO, as_mo, as_po, ids, read, strings, texts, untranslated, updated

# %(name)s and %(name)d as gettext's callers fill them, {name} as str.format does; %% is a percent sign.
PLACES = re.compile(r"%\(\w+\)0?\d*[sd]|%%|(?<!\{)\{\w*\}(?!\})")
TAGS = re.compile(r"</?\w+>|&\w+;")
UPDATE = "run `.venv/bin/python -m tests.project.translations`"


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    return read()


def test_every_text_of_a_page_is_translated_and_nothing_else_is_kept(catalogue: Catalog) -> None:
    told = {(message.context, ids(message)) for message in catalogue if message.id}

    assert told == set(texts()), UPDATE
    assert not untranslated(catalogue)
    assert not catalogue.obsolete
    assert not [message.id for message in catalogue if message.id and message.fuzzy]


def test_no_text_stands_both_with_and_without_a_plural() -> None:
    """A catalogue keeps one of the two, and the other would say "1 Schritte"."""
    first = Counter((context, said[0]) for context, said in texts())

    assert not [text for text, times in first.items() if times > 1]


def test_both_files_are_what_the_command_makes_of_the_texts(catalogue: Catalog) -> None:
    made = updated(catalogue)

    assert PO.read_bytes() == as_po(made), UPDATE
    assert MO.read_bytes() == as_mo(made), UPDATE


def test_a_translation_has_the_places_and_the_tags_of_its_text(catalogue: Catalog) -> None:
    for message in catalogue:
        if not message.id:
            continue
        said = ids(message)
        for number, form in enumerate(strings(message)):
            # A text for one thing may do without its number; a translation may say it all the same.
            wanted = [_places(each) for each in (said[min(number, len(said) - 1)], said[-1])]
            assert _places(form) in wanted, (said, form)
            assert Counter(TAGS.findall(form)) == Counter(TAGS.findall(said[-1])), (said, form)


def test_a_translation_begins_and_ends_as_its_text(catalogue: Catalog) -> None:
    """Texts are put together on a page: with a space, a line or a comma too few they run into one another."""
    for message in catalogue:
        for said, form in _pairs(message):
            assert form[: len(form) - len(form.lstrip())] == said[: len(said) - len(said.lstrip())], form
            assert form[len(form.rstrip()) :] == said[len(said.rstrip()) :], form
            assert form.startswith(",") == said.startswith(","), form
            for end in (":", "…", "?"):
                assert form.endswith(end) == said.endswith(end), form


def test_translations_speak_german_typography(catalogue: Catalog) -> None:
    for message in catalogue:
        for _, form in _pairs(message):
            assert not set('„“”‘’"') & set(re.sub("„[^„“”]*“", "", form)), form
            assert "..." not in form, form


def test_plural_forms_are_both_there(catalogue: Catalog) -> None:
    for message in catalogue:
        if message.pluralizable:
            assert len(strings(message)) == 2, message.id


def test_django_speaks_it() -> None:
    with translation.override("de"):
        assert gettext("Needs you") == "Wartet auf Sie"
        assert ngettext("%(n)s step", "%(n)s steps", 1) % {"n": 1} == "1 Schritt"
        assert ngettext("%(n)s step", "%(n)s steps", 2) % {"n": 2} == "2 Schritte"
        assert pgettext("state", "Draft") == "Entwurf"


def _places(text: str) -> Counter[str]:
    return Counter(PLACES.findall(text))


def _pairs(message: Message) -> list[tuple[str, str]]:
    if not message.id:
        return []
    said = ids(message)
    return [(said[min(number, len(said) - 1)], form) for number, form in enumerate(strings(message))]
