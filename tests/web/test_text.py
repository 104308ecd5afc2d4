"""Documents that harnesses and people write, as they are shown: readable, and never alive."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from django.utils import translation
from hypothesis import given, settings
from hypothesis import strategies as st

from chief_project.shared.text.code import highlighted, json_block
from chief_project.shared.text.markdown import document, inline
from chief_project.shared.text.maths import mathml
from chief_project.shared.text.plain import breakable, unmarked
from tests.web.markup import assert_harmless, read

# -- What a document may be ------------------------------------------------------------------------


def test_a_heading_stands_below_those_of_the_page() -> None:
    assert "<h3>Report</h3>" in document("# Report")
    assert "<h6>Deep</h6>" in document("###### Deep")


def test_every_new_line_is_kept() -> None:
    assert read(document("one\ntwo")).elements.count(("br", {})) == 1
    assert read(inline("one\n\ntwo")).elements.count(("br", {})) == 2


def test_a_table_scrolls_by_itself_and_can_be_focused() -> None:
    made = read(document("| a | b |\n|---|--:|\n| 1 | 2 |"))
    assert (
        "div",
        {"class": "scroll", "tabindex": "0", "role": "group", "aria-label": "Table"},
    ) in made.elements
    assert ("td", {"class": "num"}) in made.elements


def test_code_is_marked_by_classes_and_never_by_styles() -> None:
    made = document("```python\ndef f(): return 'a'\n```")
    assert '<span class="tok-k">def</span>' in made
    assert " style=" not in made
    assert_harmless(made)


def test_code_of_a_language_that_nobody_knows_is_shown_as_it_is() -> None:
    assert "".join(read(document("```brainfork\n<+>\n```")).words).strip() == "<+>"


def test_a_task_shows_whether_it_is_done_and_is_no_control() -> None:
    made = assert_harmless(document("- [x] built\n- [ ] shipped"))
    assert "☑ built" in made.text
    assert "☐ shipped" in made.text


def test_a_link_leads_to_the_web_and_tells_nothing_about_who_follows_it() -> None:
    made = document(
        "[paper](https://arxiv.org/abs/1) and https://example.org and [mail](mailto:a@example.org)"
    )
    links = [attributes for tag, attributes in read(made).elements if tag == "a"]
    assert [link["href"] for link in links] == [
        "https://arxiv.org/abs/1",
        "https://example.org",
        "mailto:a@example.org",
    ]
    assert {link["rel"] for link in links} == {"noreferrer noopener nofollow"}
    assert not any("target" in link for link in links)


@pytest.mark.parametrize(
    "name", ["report.md", "train.py", "run.sh", "example.com", "10.0.0.1", "someone@example.org"]
)
def test_a_bare_name_is_no_link(name: str) -> None:
    assert "<a" not in document(f"see {name}")


def test_a_link_into_the_site_or_the_file_system_stays_text() -> None:
    for address in ("/admin/", "../x", "#top", "//evil.example/x", "file:///etc/passwd", "out/report.md"):
        made = read(document(f"[read]({address})"))
        assert not [tag for tag, _ in made.elements if tag == "a"]
        assert address in made.text


def test_an_image_is_a_link_and_is_not_loaded() -> None:
    made = assert_harmless(document("![loss curve](https://example.org/loss.png)"))
    assert ("a", "https://example.org/loss.png") in [(tag, a.get("href")) for tag, a in made.elements]
    assert "loss curve" in made.text


def test_an_image_without_words_is_named_by_its_address() -> None:
    assert "https://example.org/a.png" in read(document("![](https://example.org/a.png)")).text


def test_html_is_text() -> None:
    made = assert_harmless(document("<b>bold</b> <script>alert(1)</script>"))
    assert "<b>bold</b> <script>alert(1)</script>" in made.text


def test_signs_that_turn_the_reading_direction_are_spelled_out() -> None:
    assert "⟦U+202E⟧" in document("report\u202efdp.exe")
    assert "⟦U+202E⟧" in inline("report\u202efdp.exe")
    assert "⟦U+2066⟧" in breakable("a\u2066b")
    assert "⟦U+0000⟧" in highlighted("a\0b", "python")


def test_a_line_spells_them_out_too() -> None:
    assert unmarked("`keep` \u202eeteled") == "keep ⟦U+202E⟧eteled"


def test_a_line_is_told_without_the_marks_of_code_and_strong_text() -> None:
    assert unmarked("Read `orders.v1`, ``a`b`` and **all** of it") == "Read orders.v1, a`b and all of it"
    for text in ("2 * 3 ** 4", "`open", "** a **", "snake_case_name", ""):
        assert unmarked(text) == text
    began = time.thread_time()
    unmarked("`**a " * 50_000)
    assert time.thread_time() - began < 3


def test_of_a_long_text_the_beginning_is_shown_as_it_was_written_and_says_so() -> None:
    made = read(document("# not a heading\n" + "x" * 3_000_000))
    assert "longer than 200 kB" in made.text
    assert "# not a heading" in made.text
    assert 199_000 < made.text.count("x") < 201_000
    assert not [tag for tag, _ in made.elements if tag == "h3"]


@pytest.mark.slow
def test_a_text_that_takes_too_long_is_shown_as_it_was_written_and_says_so() -> None:
    made = read(document("![" * 90_000))
    assert "takes too long" in made.text


def test_the_page_s_language_speaks_in_a_document() -> None:
    """What is kept of a text is kept for one language."""
    with translation.override("en"):
        english = document("| a |\n|---|\n| 1 |")
    with translation.override("de"):
        german = document("| a |\n|---|\n| 1 |")
    assert 'aria-label="Table"' in english
    assert read(german).elements[1][0] == "div"


# -- Formulas --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        r"is $E = mc^2$ .",
        r"is \(E = mc^2\).",
        "$$\nE = mc^2\n$$",
        "\\[\nE\n= mc^2\n\\]",
        "```math\nE = mc^2\n```",
        r"so \[E = mc^2\]",
    ],
)
def test_a_formula_becomes_mathml(text: str) -> None:
    made = assert_harmless(document(text))
    assert [tag for tag, _ in made.elements].count("math") == 1
    assert "style" not in document(text)


def test_prices_are_no_formulas() -> None:
    assert "<math" not in document("It costs $5 and then $10 more.")


@pytest.mark.parametrize(
    "source",
    [
        r"\begin{split}a&=b\\c&=d\end{split}",
        r"\begin{alignedat}{2}a&=b\\c&=d\end{alignedat}",
        r"\begin{smallmatrix}a&b\end{smallmatrix}",
        r"\mbox{for all } x",
        r"[0,1) \cup (2,3]",
        r"\left( \frac{a}{b} \right)",
    ],
)
def test_common_formulas_are_read(source: str) -> None:
    made = mathml(source, display=True)
    assert made is not None
    assert " style=" not in made


@pytest.mark.parametrize(
    "source", [r"\nope{x}", r"\frac{a", r"\href{javascript:alert(1)}{x}", "}", r"\begin{x}"]
)
def test_a_formula_that_cannot_be_read_stays_as_code(source: str) -> None:
    assert mathml(source, display=False) is None
    made = assert_harmless(document(f"is ${source}$ ."))
    assert ("code", {}) in made.elements


@pytest.mark.parametrize(
    "source",
    [
        "{" * 101 + "}" * 101,
        r"\left(" * 101 + r"\right)" * 101,
        r"\begin{matrix}" * 101,
        r"\sqrt" * 150 + " x",
        "x" * 2001,
    ],
)
def test_a_deep_or_long_formula_is_not_even_tried(source: str) -> None:
    assert mathml(source, display=True) is None


@pytest.mark.parametrize(
    "fence", ["(", "[", r"\{", r"\langle ", r"\lvert ", r"\bigl(", "{(}", "⟨", r"\lceil x"]
)
def test_a_formula_full_of_open_fences_takes_no_time(fence: str) -> None:
    """The converter would take minutes: each one doubles it. In a process of its own, or a failure would hang."""
    code = (
        "import sys, os; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'\n"
        "from chief_project.shared.text.maths import mathml\n"
        f"assert mathml({fence!r} * 40, display=True) is None"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# -- Hostile text ----------------------------------------------------------------------------------

CALLS = ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "java\nscript:alert(1)", " javascript:alert(1)",
         "\x01javascript:alert(1)", "javascript&colon;alert(1)", "javascript&#58;alert(1)", "&#106;avascript:alert(1)",
         "&#x6A;avascript:alert(1)", "javascript%3Aalert(1)", "vbscript:msgbox(1)", "data:text/html,<script>alert(1)</script>",
         "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==", "data:image/svg+xml,<svg onload=alert(1)>",
         "view-source:javascript:alert(1)", "blob:https://x/y", "feed:javascript:alert(1)", "jar:http://x!/", "file:///etc/passwd",
         "//evil.example", "\\\\evil.example", "https:evil", "ht\ntp://x", "http:\\\\evil.example", "\u202ehttps://x"]  # fmt: skip
LINKED = [
    form.replace("URL", url)
    for url in CALLS
    for form in ("[a](URL)", "[a](<URL>)", "![a](URL)", "<URL>", "[a]: URL\n\n[a]", "URL")
]
MARKUP = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "<svg/onload=alert(1)//", "<body onload=alert(1)>",
    "<iframe src=javascript:alert(1)>", "<math><annotation-xml encoding='text/html'><img src=x onerror=alert(1)></annotation-xml></math>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>", "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<title><a title=\"</title><img src=x onerror=alert(1)>\">", "<style><img title=\"</style><img src=x onerror=alert(1)>\">",
    "<textarea><img title=\"</textarea><img src=x onerror=alert(1)>\">", "<xmp><img title=\"</xmp><img src=x onerror=alert(1)>\">",
    "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">", "<a href=\"javascript:alert(1)\">x</a>", "<base href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>", "<link rel=stylesheet href=//evil.example>", "<p style=background:url(//e)>x",
    "<details open ontoggle=alert(1)>", "<input autofocus onfocus=alert(1)>", "<video><source onerror=alert(1)>", "<template><script>alert(1)</script></template>",
    "<!--><img src=x onerror=alert(1)>-->", "<![CDATA[<img src=x onerror=alert(1)>]]>", "<?xml <img src=x onerror=alert(1)> ?>", "&lt;script&gt;alert(1)&lt;/script&gt;",
    "```<img src=x onerror=alert(1)>\nx\n```", "```\"onmouseover=\"alert(1)\nx\n```", "`</code><img src=x onerror=alert(1)>`", "[<img src=x onerror=alert(1)>](https://x)",
    "[a](https://x \"title\" onmouseover=alert(1))", "[a](https://x '\" onmouseover=\"alert(1)')", "[a](https://x\"onmouseover=\"alert(1))", "![\"onerror=\"alert(1)](https://x)",
    "![<img src=x onerror=alert(1)>](https://x/\"onerror=\"alert(1))", "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |", "|a|\n|:-\"onclick=alert(1)-:|\n",
    "$\\text{<img src=x onerror=alert(1)>}$", "$</math><script>alert(1)</script>$", "$$\n\\text{</mtext></math><svg onload=alert(1)>}\n$$", "$\\color{\"onmouseover=alert(1)}x$",
    "$\\operatorname{<script>alert(1)</script>}$", "$\\mathrm{<b>}$", "$\\unicode{x3c}script$", "<http://x\"onmouseover=\"alert(1)>", "https://x/\"onmouseover=\"alert(1)",
    "https://x/<script>alert(1)</script>", "<https://x/' onmouseover='alert(1)>", "[x]: https://x 'a\" onclick=\"alert(1)'\n\n[x]", "\u2028<script>alert(1)</script>", "\0<script\0>alert(1)</script>",
    "\ufeff<script>alert(1)</script>", "＜script＞alert(1)＜/script＞", "<scr\0ipt>", "&#x202e;gpj.exe", "<a\u00a0href=x>", "\ud7ff\ufffe\uffff",
]  # fmt: skip


@pytest.mark.parametrize("text", [*LINKED, *MARKUP])
def test_nothing_hostile_comes_to_life(text: str) -> None:
    for around in (
        "{}",
        "> {}",
        "- {}",
        "# {}",
        "**{}**",
        "[{}](https://x.example)",
        "| a |\n|---|\n| {} |",
        "`{}`",
        "```html\n{}\n```",
        "${}$",
    ):
        given_text = around.replace("{}", text)
        assert_harmless(document(given_text))
        assert_harmless(inline(given_text))
    for shown in (breakable(text), highlighted(text, "html"), json_block({text: text})):
        assert_harmless(shown)


PIECES = st.sampled_from([
    *"<>&\"'`*_~[]()!#|\\$:/-+=\n\t \0\u202e", "<script>", "</p>", "<a href=", "javascript:", "https://x", "](", "![", "```", "$$", "\\(", "\\)", "\\[", "\\]",
    "\\begin{matrix}", "\\text{", "}", "{", "^", "|-|", "- [ ] ", "&#x", "&lt;", "1. ", "> ", "    ", "  \n", "on", "x", "é", "\U0001f600", "<!--", "\\frac",
])  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join))
@settings(max_examples=400, deadline=None)
def test_no_text_breaks_out_or_takes_the_page_down(text: str) -> None:
    assert_harmless(document(text))
    assert_harmless(inline(text))
    for language in ("html", "python", "diff", "json", "bash", "yaml"):
        assert "".join(read(highlighted(text, language)).words) == read(breakable(text)).text


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_at_all_is_shown(text: str) -> None:
    assert_harmless(document(text))
    assert_harmless(inline(text))
    assert_harmless(breakable(text))


@pytest.mark.parametrize(
    "text",
    ["- " * 5_000, "> " * 5_000, "".join("  " * depth + "- a\n" for depth in range(200)), "[" * 10_000, "*" * 10_000, "a" * 50_000, "\\(" * 10_000, "(" * 10_000],
)  # fmt: skip
def test_a_text_that_nests_or_never_ends_is_shown_soon(text: str) -> None:
    started = time.thread_time()
    assert assert_harmless(document(text)).deepest < 150
    assert_harmless(inline(text))
    assert time.thread_time() - started < 5
