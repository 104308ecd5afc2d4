"""What a form sent, as the services take it."""

from django.http import HttpRequest

from chief_project.shared.errors import ValidationFailed

FIELD = "field:"  # before the names of declared fields, whatever they are called


def text(request: HttpRequest, name: str) -> str | None:
    """What was written in ``name``, its line ends as ``\\n`` and without blanks around it; None for nothing.

    NUL, which nobody types and no database keeps, is left out.
    """
    return request.POST.get(name, "").replace("\0", "").replace("\r\n", "\n").strip() or None


def name(request: HttpRequest, field: str) -> str | None:
    """A text that names something: one line of at most 200 characters. Raises ``ValidationFailed`` for anything else."""
    given = text(request, field)
    if given is not None and (len(given) > 200 or not given.isprintable()):
        raise ValidationFailed(f"'{field}' must be one line of at most 200 characters", field=field)
    return given


def number(request: HttpRequest, name: str) -> int | None:
    """A whole number, or None for nothing. Raises ``ValidationFailed`` for anything else."""
    given = text(request, name)
    if given is None:
        return None
    if not (given.isascii() and given.removeprefix("-").isdigit() and len(given) < 19):
        raise ValidationFailed(f"'{name}' must be a whole number, not {given[:40]!r}", field=name)
    return int(given)


def number_in(written: str) -> int | None:
    """The number of a row or step that a button names; None for what numbers none."""
    return int(written) if written.isascii() and written.isdigit() and len(written) < 10 else None


def declared(request: HttpRequest) -> dict[str, str]:
    """What was written in the fields that a plan or a question declares, by their names, which stand after ``FIELD`` in
    the form's. What was left empty isn't an answer.
    """
    given = {name.removeprefix(FIELD): text(request, name) for name in request.POST if name.startswith(FIELD)}
    return {name: value for name, value in given.items() if value is not None}


def pressed(request: HttpRequest, *known: str) -> str:
    """Which of the ``known`` decisions the button stands for; raises ``ValidationFailed`` for none of them."""
    given = request.POST.get("decision", "")
    if given not in known:
        raise ValidationFailed("say which: press one of the buttons", field="decision")
    return given


def flag(request: HttpRequest, name: str) -> bool:
    """Whether a box was ticked."""
    return request.POST.get(name, "") not in ("", "0", "false")
