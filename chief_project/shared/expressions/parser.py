"""From text to ``Expression``, with errors that say where, what was found and what could stand there."""

import re
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from chief_project.shared.expressions.values import (
    And,
    Comparison,
    Constant,
    Expression,
    ExpressionError,
    Node,
    Not,
    Or,
    Scalar,
    Set,
    Vocabulary,
)

Branch: TypeAlias = Tree[Token]

MAX_LENGTH = 4_000
MAX_DEPTH = 64  # '(' and '!' that are open at once

_END = "$END"
_SAID = {
    "OR": "'||'",
    "AND": "'&&'",
    "NOT": "'!'",
    "EQ": "'=='",
    "NE": "'!='",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COMMA": "','",
    "IN": "'in'",
    "SUBSET_OF": "'subset_of'",
    "TRUE": "'true'",
    "FALSE": "'false'",
    "STRING": "a quoted text",
    "NAME": "a field",
    _END: "the end",
}
_MEANT = {
    "=": "write '==' to compare",
    "&": "write '&&' for and",
    "|": "write '||' for or",
    "and": "write '&&' for and",
    "or": "write '||' for or",
    "not": "write '!' for not",
    "True": "write 'true'",
    "False": "write 'false'",
}
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t"}
_ESCAPES_SAID = ("\\\\", "\\'", '\\"', "\\n", "\\t", "\\uXXXX")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)


@lru_cache(maxsize=512)
def parse(text: str, vocabulary: Vocabulary) -> Expression:
    """Read ``text``; raise ``ExpressionError``. Nothing here or behind recurses deeper than ``MAX_DEPTH`` allows."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"an expression has at most {MAX_LENGTH} characters, this one has {len(text)}:"
            " write shorter ones, in several rules",
            text=text,
            offset=MAX_LENGTH,
            end=len(text),
        )
    if not text.strip():
        raise ExpressionError(
            "the expression is empty: write 'true' for one that always matches",
            text=text,
            offset=0,
            end=len(text),
            found="nothing",
            expected=_expected({"NAME", "NOT", "LPAR", "TRUE", "FALSE"}, vocabulary),
        )
    return Expression(text=text, vocabulary=vocabulary, root=_read(text, vocabulary))


def _read(text: str, vocabulary: Vocabulary) -> Node:
    parser = _PARSER.parse_interactive(text)
    opened: list[Token] = []
    try:
        for token in parser.lexer_thread.lex(parser.parser_state):
            _check_depth(token, opened, text)
            if token.type == "NAME" and "NAME" in _accepts(parser):
                _check_name(token, text, vocabulary)
            parser.feed_token(token)
        tree = parser.feed_eof()
    except UnexpectedCharacters as error:
        raise _bad_character(text, error.pos_in_stream, _accepts(parser), vocabulary) from None  # type: ignore[arg-type]
    except UnexpectedToken as error:
        raise _bad_token(text, error.token, _accepts(parser), opened, vocabulary) from None
    return _build(tree, text, vocabulary)


def _accepts(parser: InteractiveParser) -> set[str]:
    """The terminals that could stand next."""
    return set(parser.accepts())


def _check_depth(token: Token, opened: list[Token], text: str) -> None:
    """Keep count of what is open, as tokens come. A '!' reaches to the next '&&', '||' or ')' at its level."""
    if token.type in {"NOT", "LPAR"}:
        opened.append(token)
        if len(opened) > MAX_DEPTH:
            raise ExpressionError(
                f"the expression is nested more than {MAX_DEPTH} deep at character {token.start_pos}:"
                " take parentheses away, or write several rules",
                text=text,
                offset=_start(token),
                found=f"'{token}'",
            )
    elif token.type == "RPAR":
        while opened and opened.pop().type != "LPAR":
            pass
    elif token.type in {"AND", "OR"}:
        while opened and opened[-1].type == "NOT":
            opened.pop()


def _check_name(token: Token, text: str, vocabulary: Vocabulary) -> None:
    if token in vocabulary.names:
        return
    allowed = ", ".join(vocabulary.names)
    namespace, dot, _ = token.partition(".")
    if token in _MEANT:
        problem = f"'{token}' is not a word of this language: {_MEANT[token]}"
    elif dot and namespace != vocabulary.namespace:
        problem = f"unknown namespace '{namespace}' in '{_short(token)}': this policy reads {allowed}"
    else:
        problem = f"unknown field '{_short(token)}': this policy reads {allowed}"
    raise ExpressionError(
        f"{problem} (character {token.start_pos})",
        text=text,
        offset=_start(token),
        end=_end(token),
        found=f"'{_short(token)}'",
        expected=vocabulary.names,
    )


def _bad_character(text: str, offset: int, accepts: set[str], vocabulary: Vocabulary) -> ExpressionError:
    character = text[offset]
    expected = _expected(accepts, vocabulary)
    found, end = _seen(character), offset + 1
    if character in "'\"":
        line_end = text.find("\n", offset)
        end = len(text) if line_end < 0 else line_end
        why = f"the text that begins at character {offset} with {character} is not closed"
        why += ": write a line break inside a text as \\n" if line_end >= 0 else f": end it with {character}"
        return ExpressionError(why, text=text, offset=offset, end=end, found=found, expected=expected)
    hint = f" ({_MEANT[character]})" if character in _MEANT else ""
    return ExpressionError(
        f"at character {offset}: found {found} where {_listed(expected)} could stand{hint}",
        text=text,
        offset=offset,
        end=end,
        found=found,
        expected=expected,
    )


def _bad_token(
    text: str, token: Token, accepts: set[str], opened: list[Token], vocabulary: Vocabulary
) -> ExpressionError:
    expected = _expected(accepts, vocabulary)
    if token.type == _END:
        offset, end, found = len(text), len(text), "the end"
    else:
        offset, end, found = _start(token), _end(token), _quoted(token)
    hint = ""
    if token.type in {"NAME", "TRUE", "FALSE"} and "STRING" in accepts:
        hint = f" (a text needs quotes: '{_short(token)}')"
    elif token in _MEANT:
        hint = f" ({_MEANT[token]})"
    elif "RPAR" in accepts:
        open_paren = next(one for one in reversed(opened) if one.type == "LPAR")
        hint = f" (the '(' at character {open_paren.start_pos} is open)"
    return ExpressionError(
        f"at character {offset}: found {found} where {_listed(expected)} could stand{hint}",
        text=text,
        offset=offset,
        end=end,
        found=found,
        expected=expected,
    )


def _expected(accepts: set[str], vocabulary: Vocabulary) -> tuple[str, ...]:
    said = [words for terminal, words in _SAID.items() if terminal in accepts and terminal != "NAME"]
    return (*vocabulary.names, *said) if "NAME" in accepts else tuple(said)


def _listed(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _seen(character: str) -> str:
    """A character as it can be shown: one that can't be seen is named by its code point."""
    return f"'{character}'" if character.isprintable() else f"U+{ord(character):04X}"


def _short(word: str) -> str:
    """A word as it can be shown and stored: no longer than 60, nothing unseen in it."""
    word = "".join(character if character.isprintable() else "�" for character in word)
    return word if len(word) <= 60 else f"{word[:59]}…"


def _quoted(token: Token) -> str:
    return _short(token) if token.type == "STRING" else f"'{_short(token)}'"


def _end(token: Token) -> int:
    assert token.end_pos is not None
    return token.end_pos


def _start(token: Token) -> int:
    assert token.start_pos is not None
    return token.start_pos


def _build(tree: Branch, text: str, vocabulary: Vocabulary) -> Node:
    """From lark's tree to nodes. Refuses what the grammar can't see: a field used as what it is not."""
    children = tree.children
    match tree.data:
        case "constant":
            return Constant(children[0] == "true")
        case "comparison":
            return _comparison([child for child in children if isinstance(child, Token)], text, vocabulary)
        case _:
            parts = tuple(_build(child, text, vocabulary) for child in children if isinstance(child, Tree))
    match tree.data:
        case "negation":
            return Not(parts[0])
        case "both":
            return And(parts)
        case _:
            return Or(parts)


def _comparison(tokens: list[Token], text: str, vocabulary: Vocabulary) -> Comparison:
    name, operator, *values = tokens
    field = vocabulary.by_name[name.partition(".")[2]]
    is_set = isinstance(field, Set)
    if is_set != (operator.type == "SUBSET_OF"):
        problem = (
            f"{name} is a set, so '{operator}' can't compare it: write {name} subset_of ['{field.domain[0]}']"
            if isinstance(field, Set)
            else f"{name} is one text and not a set: write {name} in [..]"
        )
        raise ExpressionError(
            f"{problem} (character {operator.start_pos})",
            text=text,
            offset=_start(operator),
            end=_end(operator),
            found=f"'{operator}'",
            expected=("'subset_of'",) if is_set else ("'=='", "'!='", "'in'"),
        )
    return Comparison(
        field=field.name,
        op=str(operator),
        values=frozenset(_text_of(value, text, name, field) for value in values),
    )


def _text_of(token: Token, text: str, name: str, field: Scalar | Set) -> str:
    """What a quoted text says; it must be something the field can hold, or the comparison decides nothing."""
    value = _unquoted(token, text)
    if field.domain is not None and value not in field.domain:
        allowed = tuple(f"'{one}'" for one in field.domain)
        raise ExpressionError(
            f"{name} is never '{_short(value)}', so this can never match: it is {_listed(allowed)}"
            f" (character {token.start_pos})",
            text=text,
            offset=_start(token),
            end=_end(token),
            found=_short(token),
            expected=allowed,
        )
    return value


def _unquoted(token: Token, text: str) -> str:
    start, inner = _start(token), token[1:-1]
    for position, character in enumerate(inner, start + 1):
        if not character.isprintable():
            written = (
                "\\n" if character == "\n" else "\\t" if character == "\t" else f"\\u{ord(character):04X}"
            )
            raise ExpressionError(
                f"at character {position}: {_seen(character)} can't be seen inside a text: write {written}",
                text=text,
                offset=position,
                found=_seen(character),
            )

    def plain(escape: re.Match[str]) -> str:
        body, offset = escape[1], start + 1 + escape.start()
        if len(body) == 5 and not 0xD800 <= (code := int(body[1:], 16)) <= 0xDFFF:
            return chr(code)
        if body in _ESCAPES:
            return _ESCAPES[body]
        raise ExpressionError(
            f"at character {offset}: '{escape[0]}' is not an escape: {_listed(_ESCAPES_SAID)} are;"
            " a plain \\ is written \\\\",
            text=text,
            offset=offset,
            end=offset + len(escape[0]),
            found=f"'{escape[0]}'",
            expected=_ESCAPES_SAID,
        )

    return _ESCAPE.sub(plain, inner)


_PARSER = Lark(
    (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8"),
    parser="lalr",
    lexer="basic",
    maybe_placeholders=False,
)
