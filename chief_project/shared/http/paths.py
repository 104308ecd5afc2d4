"""Path converters: ``<id:workflow_id>`` and ``<statepath:path>``. What can't be an id matches no route: 404.

They are registered by importing ``chief_project.shared.http``, which every view does.
"""

from django.urls import register_converter
from django.urls.converters import get_converters

_ID = r"[A-Za-z0-9_.:\-]{1,200}"


class IdConverter:
    """One id (``ids.is_valid``)."""

    regex = _ID

    def to_python(self, value: str) -> str:
        """As it stands."""
        return value

    def to_url(self, value: str) -> str:
        """As it stands."""
        return value


class StatePathConverter:
    """A state path, ``step_06/inst_01/step_09``, as the tuple of its ids."""

    regex = rf"{_ID}(?:/{_ID})*"

    def to_python(self, value: str) -> tuple[str, ...]:
        """The ids, outermost first."""
        return tuple(value.split("/"))

    def to_url(self, value: tuple[str, ...]) -> str:
        """The ids with slashes between."""
        return "/".join(value)


for _name, _kind in (("id", IdConverter), ("statepath", StatePathConverter)):
    if _name not in get_converters():
        register_converter(_kind, _name)
