"""Whatever a harness, a person or a link writes: no page brings it to life. Every field, every page, admin included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode, urlsplit

import pytest
from django.test import Client

from chief_project.shared.caller import Caller
from chief_project.shared.models import User
from tests.web.crawler import Answer, addresses, crawl, forms_on, get
from tests.web.markup import assert_page_harmless
from tests.web.world import Words, build

pytestmark = [pytest.mark.django_db]

# Breaks out of text, of both kinds of quotes, of every element whose text is raw, and out of Markdown.
OUT_OF_ANYTHING = (
    "MARK\"><script>alert(9137)</script>'><img src=http://evil.example/x.png onerror=alert(9137)>"
    "<xss9137 xss9137=1 onmouseover=alert(9137) style=background:url(//evil.example)> onclick=alert(9137) x="
    "</title></textarea></style></script></noscript></option></select></pre></code></svg></math></template>"
    "<svg onload=alert(9137)><iframe src=javascript:alert(9137)></iframe><base href=//evil.example/>\n\n"
    '[a](javascript:alert(9137)) ![i](http://evil.example/p.png) <http://evil.example/"onmouseover="alert(9137)>\n'
    '`</code><xss9137>` $\\text{<xss9137>}$ | <xss9137> |\n```"onmouseover="alert(9137)\n<xss9137>\n```\n'
    "<!--><xss9137>--> &lt;xss9137&gt; &#60;xss9137&#62; \u2028<xss9137> ＜xss9137＞ \u202eevil"
)
SHORT = "MARK\"'><xss9137 onclick=alert(9137) style=x><img src=//evil.example/x><script>alert(9137)</script>"
SETS = {
    "markup": Words(OUT_OF_ANYTHING, SHORT, match="'><xss9137 onclick=alert(9137)><script>alert(9137)</script>", ids="x:"),
    "a script as address": Words("javascript:alert(9137)//MARK", "javascript:alert(9137)//MARK", "javascript:alert(9137)", "javascript:"),
    "a page as address": Words("data:text/html,<script>alert(9137)</script>MARK", "data:text/html,<xss9137>MARK", "data:text/html,x", "data:"),
    "another site as address": Words("//evil.example/MARK", "//evil.example/MARK", "//evil.example/", "a.b"),
    "an address in capitals": Words("JaVaScRiPt:alert(9137)//MARK", "\\\\evil.example\\MARK", "JAVASCRIPT:x", "JAVASCRIPT:"),
}  # fmt: skip
# Kept, and shown on no page: what is only said in another place, or belongs to a plan that nobody looks at any more.
NOWHERE: set[str] = set()


QUICK = {"markup", "a script as address"}


@pytest.fixture(
    params=[pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in SETS], ids=str
)
def words(request: pytest.FixtureRequest) -> Words:
    return replace(SETS[request.param], used=set())


def assert_harmless(answer: Answer) -> str:
    """The answer's text as it is read."""
    kind = answer.headers.get("Content-Type", "")
    if not answer.body:
        return ""
    if "text/html" not in kind:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert kind.partition(";")[0] in {
            "application/json",
            "text/csv",
            "application/x-ndjson",
            "application/jsonl",
            "text/plain",
            "text/javascript",
            "text/event-stream",
            "image/svg+xml",
        }, kind
        return answer.body
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    try:
        found = assert_page_harmless(answer.body, admin=answer.address.startswith("/admin/"))
    except AssertionError as alive:
        raise AssertionError(f"{alive} on {answer.address[:200]} from {answer.found_on[:100]}") from None
    return found.text + " ".join(value for _, attributes in found.elements for value in attributes.values())


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>", "<script src=//evil.example/x.js></script>", "<script src=https://x/static/a.js></script>",
        "<b onclick=x>", "<b ONCLICK=x>", "<p style='color:red'>", "<a href=javascript:alert(1)>", "<a href=' javascript:x'>",
        "<a href='java\tscript:x'>", "<a href=data:text/html,x>", "<a href=//evil.example>", "<a href='/\\evil.example'>",
        "<a href=https://evil.example>", "<a href=https://evil.example rel=noreferrer>", "<img src=x>", "<img src=https://evil.example>",
        "<iframe src=/a></iframe>", "<base href=/>", "<meta http-equiv=refresh content=0>", "<form action=https://evil.example></form>",
        "<button formaction=javascript:x>", "<link rel=stylesheet href=https://evil.example>", "<svg><use href=https://evil.example/x#y /></svg>",
        "<xss9137>", "<b xss9137=1>", "<b hx-get=//evil.example>", "<a href=workflow:x>", "<object data=/a></object>", "<b x\"y=1>",
    ],
)  # fmt: skip
def test_the_judge_sees_what_is_alive(html: str) -> None:
    with pytest.raises(AssertionError):
        assert_page_harmless(f"<main>{html}</main>")


def test_the_judge_lets_pages_be() -> None:
    assert_page_harmless(
        '<script type="module" src="/static/a.js"></script><a href="/runs/javascript:x?step=a">a</a><a href="?q=javascript:x">b</a>'
        '<a href="https://x.example" rel="noreferrer noopener nofollow">c</a><form action="/a" method="post"></form>'
        '<svg><use href="#i-note"/></svg><b hx-get="/a" aria-label="onclick=x">d</b>'
    )


def test_no_page_brings_a_text_to_life(
    words: Words, web_as: Callable[..., Client], owner: User, reviewer: Caller, admin: Caller
) -> None:
    world = build(words, reviewer=reviewer, admin=admin)
    client = web_as(owner)
    left = set(words.used)
    pages = 0
    for answer in crawl(client, ["/", "/admin/", *addresses(world)]):
        assert answer.status < 500, answer.address
        text = assert_harmless(answer)
        left -= {name for name in left if f"zq{name}zq" in text}
        pages += "text/html" in answer.headers.get("Content-Type", "")
    assert pages > 100
    assert left == NOWHERE, "no page shows these, so nothing was tried with them"


def test_nothing_in_an_address_comes_to_life(
    words: Words, web_as: Callable[..., Client], owner: User, reviewer: Caller, admin: Caller
) -> None:
    world = build(
        replace(words, text="MARK", line="MARK", match="x", ids="x"), reviewer=reviewer, admin=admin
    )
    client = web_as(owner)
    names = [
        "q", "step", "open", "state", "project", "cursor", "page", "path", "waits", "from", "to", "event", "actor", "run_id",
        "workflow_id", "status", "sort", "next", "tab", "view", "by", "since", "until", "revision", "kind", "param.topic", "p.topic",
    ]  # fmt: skip
    texts = [words.long("a"), words.short("b")]
    for address in sorted({*addresses(world, each=1), "/", "/admin/runs/run/", "/signin"}):
        for given in texts:
            assert_harmless(get(client, f"{address}?{urlencode([(name, given) for name in names])}"))
            for name in names[:6]:
                assert_harmless(get(client, f"{address}?{urlencode({name: given})}"))
        assert_harmless(get(client, f"{address}/{urlencode({'': texts[1]})}"))


def test_what_was_typed_is_shown_again_and_does_not_come_to_life(
    words: Words, web_as: Callable[..., Client], owner: User, reviewer: Caller, admin: Caller
) -> None:
    world = build(
        replace(words, text="MARK", line="MARK", match="x", ids="x"), reviewer=reviewer, admin=admin
    )
    client = web_as(owner)
    sent = set()
    for address in addresses(world, each=1):
        if address.startswith("/signout"):
            continue
        for form in forms_on(get(client, address).body, address):
            action = urlsplit(form.action).path
            names = tuple(sorted(name for name, _ in form.fields))
            if form.method != "post" or action.startswith("/signout") or (action, names) in sent:
                continue
            sent.add((action, names))
            for given in (words.long("a"), words.short("b")):
                fields = {
                    name: given for name, _ in form.fields if name not in {"csrfmiddlewaretoken", "form"}
                }
                kept = {name: value for name, value in form.fields if name == "form"}
                response = client.post(form.action, fields | kept)
                assert response.status_code < 500, form
                assert_harmless(
                    Answer(
                        form.action,
                        address,
                        response.status_code,
                        dict(response.headers),
                        response.content.decode(),
                        "",
                    )
                )
    assert len(sent) > 20
