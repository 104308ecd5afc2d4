"""One artifact of a run: what it holds, laid out by its type, where it comes from, and what people say about it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.urls import path, reverse
from django.utils.translation import gettext as _

from chief_project.shared.caller import Caller
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.paging import Paging
from chief_project.web.addresses import link
from chief_project.web.artifact_data import icon_of, shown
from chief_project.web.forms import text
from chief_project.web.pages import action, page
from chief_project.web.run_frame import frame_of
from runs.selectors.kept import get_artifact, list_artifacts
from runs.services.comment_on_artifact import comment_on_artifact

Context = dict[str, Any]

BESIDE = Paging(limit=50)


@page("pages/artifact.html")
def artifact_page(request: HttpRequest, caller: Caller, run_id: str, artifact_id: str) -> Context:
    """The artifact, and beside it the newest of its run."""
    artifact = get_artifact(caller=caller, run_id=run_id, artifact_id=artifact_id)
    others = list_artifacts(caller=caller, run_id=run_id, paging=BESIDE)
    frame = frame_of(caller, run_id, "artifacts")
    return frame | {
        "artifact": artifact | _named(artifact),
        "shown": shown(artifact["type"], artifact["data"], artifact["ref"]),
        "is_address": (artifact["ref"] or "").lower().startswith(("http://", "https://")),
        "step_href": link(frame["here"], step=artifact["path"]) if artifact["path"] else "",
        "previous": _address(run_id, artifact["previous"]),
        "next": _address(run_id, artifact["next"]),
        "others": [
            each | _named(each) | {"href": _address(run_id, each["artifact_id"])} for each in others.rows
        ],
        "total": others.total,
    }


@action(artifact_page)
def comment(request: HttpRequest, caller: Caller, run_id: str, artifact_id: str) -> str:
    """Say something about it: kept with the artifact, and changing nothing else."""
    said = text(request, "body")
    if said is None:
        raise ValidationFailed("a comment needs words", field="body")
    comment_on_artifact(caller=caller, run_id=run_id, artifact_id=artifact_id, comment={"body": said})
    messages.success(request, _("Your comment is kept with the artifact."))
    return f"{_address(run_id, artifact_id)}#comments"


urlpatterns = [
    path("runs/<id:run_id>/artifacts/<id:artifact_id>", artifact_page, name="artifact"),
    path("runs/<id:run_id>/artifacts/<id:artifact_id>/comments", comment, name="artifact-comment"),
]


def _named(artifact: Context) -> Context:
    """Its title, which is what it is called first, and its icon."""
    title = artifact["description"] or artifact["ref"] or artifact["type"]
    return {"title": title, "icon": icon_of(artifact["type"])}


def _address(run_id: str, artifact_id: str | None) -> str:
    return (
        ""
        if artifact_id is None
        else reverse("artifact", kwargs={"run_id": run_id, "artifact_id": artifact_id})
    )
