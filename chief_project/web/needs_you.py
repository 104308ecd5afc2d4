"""Needs you: everything that waits for a person, oldest first, as cards (``needs_you_decisions``: what is decided)."""

import re
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, register_converter, reverse

from amendments.selectors.decided import decided_lately, what_became_of
from amendments.selectors.needs_you import needs_you, read_card, waiting_cards
from amendments.selectors.overview import list_project_states
from amendments.selectors.waiting import count_waiting_by_project
from chief_project.shared.caller import Caller
from chief_project.web.addresses import link, paging
from chief_project.web.connect import lines_for
from chief_project.web.forms import FIELD, text
from chief_project.web.labels import chips_of, label_of, query_of, value_of
from chief_project.web.needs_you_cards import NOUNS, dressed, gone, place_of
from chief_project.web.pages import page

Context = dict[str, Any]

CARDS = 50
_LATELY = 8


class CardConverter:
    """The name of a card, ``kind:id`` (``card_of``)."""

    regex = r"[a-z_]{1,20}:[A-Za-z0-9_.:@/\-]+"

    def to_python(self, value: str) -> str:
        """As it stands."""
        return value

    def to_url(self, value: str) -> str:
        """As it stands."""
        return value


register_converter(CardConverter, "card")


@page("pages/needs_you.html", parts=("queue",))
def needs_you_page(request: HttpRequest, caller: Caller) -> Context | HttpResponse:
    """Every card, or those of one project; from the oldest where nothing stands behind the cursor any more."""
    project = label_of(request)
    wanted = paging(request, CARDS)
    waiting = needs_you(caller=caller, paging=wanted, project=project)
    if wanted.cursor and not waiting.rows:
        return redirect(link(reverse("needs-you"), project=value_of(project)))
    counts = count_waiting_by_project(caller=caller)
    cards = [dressed(card) for card in waiting.rows]
    for card, later in pairwise(cards):
        card["next"] = later["card"]
    return {
        "section": "needs-you",
        "cards": cards,
        "total": waiting.total,
        "chips": chips_of(counts, project),
        "everything": sum(counts.values()),
        "project": project,
        "query": query_of(project, cursor=wanted.cursor),
        "oldest": query_of(project),
        "more": f"?{query_of(project, cursor=waiting.next_cursor)}" if waiting.next_cursor else "",
        "earlier": wanted.cursor is not None,
        **({} if cards else _nothing_waits(caller)),
    }


def _nothing_waits(caller: Caller) -> Context:
    """What an empty page says instead: what is under way, what was decided lately, and how the first plan comes."""
    states = [row["states"] for row in list_project_states(caller=caller)]
    return {
        "any_workflow": bool(states),
        "under_way": sum(each.get("running", 0) for each in states),
        "lately": [
            each
            | {
                "href": place_of(each),
                "word": NOUNS[each["kind"]],
                "own": each["by"] == caller.actor,
            }
            for each in decided_lately(caller=caller, limit=_LATELY)
        ],
        "lines": lines_for(url=settings.CHIEF_URL, token="chf_…", kind="harness"),  # noqa: S106 - a placeholder
    }


@page("pages/needs_you_card.html", parts=("card",))
def card_page(request: HttpRequest, caller: Caller, card: str) -> Context:
    """One card alone: what waits, or what became of it."""
    found = read_card(caller=caller, card=card)
    became = what_became_of(caller=caller, cards=[card])[card]
    shown = gone(became) if found is None else dressed(found)
    for asked in shown.get("asks", ()):
        asked["typed"] = request.POST.get(f"{FIELD}{asked['name']}", "")
    return {
        "section": "needs-you",
        "card": shown
        | {
            "next": request.POST.get("next", ""),
            "moved_on": found is not None and found["card"] != card,
        },
        "written": _written(request),
        "query": request.POST.get("query", ""),
    }


@page("pages/needs_you_news.html")
def news_page(request: HttpRequest, caller: Caller) -> Context:
    """What became of the cards that are shown, how old the others are, how many wait in each project, and how many that
    belong on this page of the list aren't shown: a fragment for the script.
    """
    cards = request.GET.getlist("card")[: 4 * CARDS]
    shown = [card for card in cards if re.fullmatch(CardConverter.regex, card)]
    became = what_became_of(caller=caller, cards=shown)
    project = label_of(request)
    waiting = waiting_cards(caller=caller, paging=paging(request, CARDS), project=project)
    counts = count_waiting_by_project(caller=caller)
    return {
        "chips": chips_of(counts, project),
        "everything": sum(counts.values()),
        "gone": [gone(each) for each in became.values() if not each["open"]],
        "waiting": waiting.rows,
        "new": len({each["card"] for each in waiting.rows} - set(shown)),
        "total": waiting.total,
        "project": project,
    }


def _written(request: HttpRequest) -> list[str]:
    """Every text that was typed: shown where the card it was meant for is decided already."""
    names = [name for name in request.POST if name in ("reason", "note") or name.startswith(FIELD)]
    return [said for name in names if (said := text(request, name))]


urlpatterns = [
    path("", needs_you_page, name="needs-you"),
    path("", needs_you_page, name="home"),
    path("needs-you/news", news_page, name="needs-you-news"),
    path("needs-you/<card:card>", card_page, name="needs-you-card"),
]
