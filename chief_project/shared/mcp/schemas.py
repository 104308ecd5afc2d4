"""JSON Schemas for tools, from the definitions that the API's description comes from too.

They stand in an agent's context, so they are as short as they can be: no titles, no ``null`` beside what may be left
out, no ``$ref`` (a client that can't follow one would lose the tool). A published schema may say less than is
accepted; what arrives is judged by the definition itself, as over REST.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from rest_framework import fields, serializers

from chief_project.shared.serializers import ObjectField, PageQuery, StrictSerializer

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
OBJECTS: Schema = {"type": "array", "items": OBJECT}


def answer_schema(required: str, optional: str = "", **others: Schema) -> Schema:
    """An object: the names in ``required`` and ``optional`` (by spaces) are texts unless ``others`` says otherwise.

    Other keys may be there, ``document`` for one.
    """
    names = [*required.split(), *optional.split()]
    return {
        "type": "object",
        "properties": {name: others.get(name, TEXT) for name in names},
        "required": required.split(),
    }


def body_schema(shape: type[BaseModel] | type[StrictSerializer] | None) -> Schema:
    """``{properties, required}`` of a body or query; nothing for None."""
    if shape is None:
        return {"properties": {}, "required": []}
    if issubclass(shape, BaseModel):
        return _of_model(shape)
    return _of_serializer(shape)


# -- pydantic ----------------------------------------------------------------------------------------

_KEPT = frozenset({"type", "description", "enum", "items", "properties", "required", "anyOf", "minimum"})


def _of_model(model: type[BaseModel]) -> Schema:
    whole = model.model_json_schema()
    return _plain(whole, whole.get("$defs", {}), ())


def _plain(schema: Schema, known: Mapping[str, Schema], around: tuple[str, ...]) -> Schema:
    """``schema`` with its references written out and its ornaments left away."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        if name in around:
            return OBJECT
        inner = _plain(known[name], known, (*around, name))
        return {**inner, **{key: value for key, value in schema.items() if key == "description"}}
    found: Schema = {key: value for key, value in schema.items() if key in _KEPT}
    if "const" in schema:
        found["enum"] = [schema["const"]]
    if "anyOf" in found:
        ways = [_plain(way, known, around) for way in found.pop("anyOf") if way.get("type") != "null"]
        first = {key: value for key, value in ways[0].items() if key != "description"}
        # The shortest way to say it is told, which is the first; the others are taken all the same.
        found = {**first, **found}
    if "items" in found:
        found["items"] = _plain(found["items"], known, around)
    if "properties" in found:
        found["properties"] = {
            name: _plain(inner, known, around)
            for name, inner in found["properties"].items()
            if inner.get("type") != "null" and inner.get("maxProperties") != 0
        }
    if around and found.get("type") == "object":
        found.pop("description", None)  # the model's own docstring
    return found


# -- DRF ---------------------------------------------------------------------------------------------


def _of_serializer(shape: type[StrictSerializer]) -> Schema:
    made = shape()
    left_out = {"count"} if issubclass(shape, PageQuery) else set()
    inputs = {
        name: field for name, field in made.fields.items() if not field.read_only and name not in left_out
    }
    properties = {name: _of_field(field) for name, field in inputs.items()}
    if left_out:
        properties["limit"]["description"] = "How many at most (20)."
        properties["cursor"]["description"] = "The `cursor` of the page before."
    return {
        "properties": properties,
        "required": [name for name, field in inputs.items() if field.required],
    }


def _of_field(field: Any) -> Schema:
    found: Schema
    if isinstance(field, serializers.ChoiceField):
        found = {"type": "string", "enum": list(field.choices)}
    elif isinstance(field, serializers.IntegerField):
        found = {"type": "integer"}
    elif isinstance(field, serializers.BooleanField):
        found = {"type": "boolean"}
    elif isinstance(field, ObjectField | serializers.DictField):
        found = {"type": "object"}
    elif isinstance(field, serializers.ListField):
        found = {"type": "array", "items": _of_field(field.child)}
    else:
        assert isinstance(field, fields.CharField), f"{type(field).__name__} has no schema yet"
        found = {"type": "string"}
    if field.help_text:
        found["description"] = str(field.help_text)
    return found
