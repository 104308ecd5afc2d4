"""The base of every pydantic model: large documents on their way in, and the shapes that are described.

No adapter: what is kept as a document (an amendment's steps) is read back with the same models.
"""

from pydantic import BaseModel, ConfigDict

MAX_INTEGER = 2**31 - 1  # both databases' integer columns hold it


class Document(BaseModel):
    """Nothing unknown, nothing coerced. Arrays are ``list[…]``, never ``tuple``."""

    model_config = ConfigDict(extra="forbid", strict=True)
