"""What every table looks like on the admin site: looked at and searched, never written (contract 9, law 1).

Whatever changes something is an action that calls a service with the admin as its caller.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.text import Truncator, smart_split

from chief_project.shared.admin_site import admin_caller
from chief_project.shared.caller import Caller
from chief_project.shared.errors import ChiefError

Action = Callable[["Record", HttpRequest, QuerySet[Any]], HttpResponse | None]
BRIEF = 80  # characters of a long text in a list
SEARCH_WORDS = 20  # each is a condition on every searched column, and a database takes only so many
LOOKUPS = frozenset({"exact", "isnull", "isempty"})  # what filters and links ask for


class Record(admin.ModelAdmin):
    """A read-only table. ``see`` names the tables that belong to a row: (words, "app_model", lookup, own field)."""

    see: ClassVar[Sequence[tuple[str, str, str, str]]] = ()

    list_per_page = 50
    list_max_show_all = 200
    show_full_result_count = False
    ordering = ("-pk",)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Who may enter the site may look at everything on it."""
        return True

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Who may enter the site may look at everything on it."""
        return True

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Services make rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Services change rows."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Services delete rows, and never those of the audit."""
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """The row's own columns, and where to go from it."""
        fields = [field.name for field in self.model._meta.fields if field.name not in (self.exclude or ())]
        return [*fields, "see_also"] if self.see and obj is not None else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """All of them."""
        return self.get_fields(request, obj)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """One row with what its columns point at, in one statement. An impossible id is nobody's."""
        return None if "\0" in object_id else super().get_object(request, object_id, from_field)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Filters compare what is shown for equality: a hidden column can't be guessed letter by letter."""
        first, last = lookup.split("__")[0], lookup.rsplit("__", 1)[-1]
        if first in (self.exclude or ()) or (last != first and last not in LOOKUPS) or "\0" in str(value):
            return False
        return super().lookup_allowed(lookup, value, request)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Rows in which each of the first words stands."""
        asked = " ".join(list(smart_split(search_term))[:SEARCH_WORDS])
        return super().get_search_results(request, queryset, asked)

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *args: Any
    ) -> HttpResponse | None:
        """The action, unless a selected row is one that can't be."""
        try:
            for selected in request.POST.getlist(ACTION_CHECKBOX_NAME):
                if "\0" in selected:
                    raise ValidationError("NUL")
                self.opts.pk.to_python(selected)
        except ValidationError:
            self.message_user(request, "Nothing was done: a selected row is unknown.", messages.ERROR)
            return None
        return super().response_action(request, queryset, *args)

    @admin.display(description="see also")
    def see_also(self, row: Model) -> SafeString:
        """Links to the rows that belong to this one."""
        return self.links(row, self.see)

    def links(self, row: Model, see: Sequence[tuple[str, str, str, str]]) -> SafeString:
        """Links to the tables in ``see``, filtered by this row."""
        found = (
            (
                reverse(f"{self.admin_site.name}:{table}_changelist"),
                urlencode({lookup: getattr(row, own)}),
                words,
            )
            for words, table, lookup, own in see
        )
        return format_html_join(" · ", '<a href="{}?{}">{}</a>', found)

    def about(self, row: Any) -> str:
        """What a page that decides on the row says of it."""
        return ""


def brief(name: str, words: str | None = None) -> Callable[[Any], str]:
    """A column that shows the beginning of a long text."""

    @admin.display(description=words or name.replace("_", " "), ordering=name)
    def column(row: Any) -> str:
        value = getattr(row, name)
        return "-" if value is None else Truncator(str(value)[: 2 * BRIEF]).chars(BRIEF)

    column.__name__ = name
    return column


def choice(field: str, values: Iterable[str]) -> type[admin.SimpleListFilter]:
    """A filter on a column whose values are known, so that the table isn't read to find them."""
    options = [(value, value.replace("_", " ")) for value in values]

    class Choice(admin.SimpleListFilter):
        title = field.replace("_", " ")
        parameter_name = field

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return options

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            if self.value() is None:
                return queryset
            known = self.value() in dict(options)
            return queryset.filter(**{field: self.value()}) if known else queryset.none()

    return Choice


def action(words: str, call: Callable[[Caller, Any], Any], *, done: str) -> Action:
    """An action that calls a service for each selected row; each is one transaction, refused ones say why.

    ``done`` is what a success says, with ``{row}``.
    """

    @admin.action(description=words)
    def run(record: Record, request: HttpRequest, rows: QuerySet[Any]) -> None:
        caller = admin_caller(request)
        for row in rows:
            _do(record, request, row, partial(call, caller, row), done)

    run.__name__ = _name(words)
    return run


def decision(
    words: str,
    call: Callable[[Caller, Any, str | None, str], Any],
    *,
    done: str,
    seen: Callable[[Any], str] = lambda row: "",
    links: Sequence[tuple[str, str, str, str]] = (),
) -> Action:
    """An action that first shows what is being decided and asks for the reason.

    ``call`` gets the caller, the row, the reason and what ``seen`` said of the row when the page was shown, so that
    a decision holds for what was read. ``links`` lead to what should be read, as ``Record.see`` does.
    """

    @admin.action(description=words)
    def run(record: Record, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
        caller = admin_caller(request)
        if "decided" not in request.POST:
            context = {
                **record.admin_site.each_context(request),
                "title": words,
                "opts": record.opts,
                "action": run.__name__,
                "decided": [
                    {
                        "row": row,
                        "seen": seen(row),
                        "about": record.about(row),
                        "links": record.links(row, links or record.see),
                    }
                    for row in rows
                ],
            }
            return TemplateResponse(request, "admin/chief_decide.html", context)
        reason = request.POST.get("reason", "").replace("\0", "").strip() or None
        for row in rows:
            shown = request.POST.get(f"seen_{row.pk}", "")
            _do(record, request, row, partial(call, caller, row, reason, shown), done)
        return None

    run.__name__ = _name(words)
    return run


def _do(record: Record, request: HttpRequest, row: Any, call: Callable[[], Any], done: str) -> None:
    try:
        call()
    except ChiefError as problem:
        record.message_user(request, f"Not done for {row}: {problem.message}", messages.ERROR)
    else:
        record.message_user(request, done.format(row=row), messages.SUCCESS)


def _name(words: str) -> str:
    return words.lower().replace(" ", "_").replace("'", "")
