"""Tables of the amendments app."""

from amendments.models.amendment import Amendment, Operation

__all__ = ["Amendment", "Operation"]
