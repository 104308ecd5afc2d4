"""What deleting a workflow would take away: told before it is done."""

import pytest
from pytest_django import DjangoAssertNumQueries

from amendments.selectors.deletion import get_deletion
from amendments.services.delete_workflow import delete_workflow
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, NotFound
from runs.services.ask_question import ask_question
from runs.services.comment_on_artifact import comment_on_artifact
from runs.services.register_run import register_run
from tests.amendments import amend, propose, remove, replay
from tests.plans import parallel, task
from tests.runs import add_instance, new_run, report
from workflows.services.add_review_note import add_review_note
from workflows.services.create_template_from_workflow import create_template_from_workflow

pytestmark = pytest.mark.django_db


def test_what_is_told_is_what_goes(admin: Caller, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    new_run(admin, "a", parallel("p", ["b"], depends_on=["a"]), task("b"), task("z"), workflow_id="w")
    register_run(caller=admin, workflow_id="w", run_id="r2")
    add_review_note(caller=admin, workflow_id="w", body="x")
    report(admin, "a", "completed", artifacts=[{"artifact_id": "art", "type": "text", "data": "x"}])
    comment_on_artifact(caller=admin, run_id="r1", artifact_id="art", comment={"body": "nice"})
    add_instance(admin, "p")
    report(admin, "p/inst_00/b", "running")
    ask_question(caller=admin, run_id="r1", path=("p", "inst_00", "b"), question={"text": "Which?"})
    amend(admin, replay("a"), kind="history_edit")
    propose(admin, remove("z"))
    create_template_from_workflow(caller=admin, workflow_id="w", substitutions={}, template_id="t")

    with django_assert_num_queries(14):
        told = get_deletion(caller=admin, workflow_id="w")
    assert (told["title"], told["unfinished"]) == ("A plan", ["r1", "r2"])
    assert [each["template_id"] for each in told["templates"]] == ["t"]
    assert min(told["removes"].values()) > 0
    assert told["removes"] == delete_workflow(caller=admin, workflow_id="w")["removed"]


def test_only_who_may_delete_is_told(admin: Caller, reviewer: Caller) -> None:
    new_run(reviewer, workflow_id="w")
    with pytest.raises(Forbidden):
        get_deletion(caller=reviewer, workflow_id="w")
    with pytest.raises(NotFound):
        get_deletion(caller=admin, workflow_id="nowhere")
