"""What a person says about an artifact (contract 3, "artifacts")."""

from __future__ import annotations

import json

import pytest

from amendments.services.cancel_run import cancel_run
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, NotFound, PreconditionFailed
from chief_project.shared.models import AuditEntry
from runs.models import Report
from runs.selectors.runs import get_run
from runs.services.comment_on_artifact import comment_on_artifact
from tests.amendments import amend, replay
from tests.plans import loop, task
from tests.refusals import refused
from tests.run_calls import comment, node_at, register, update, update_instance
from tests.runs import new_run

pytestmark = pytest.mark.django_db

ONE = {"artifact_id": "one", "type": "text/plain", "ref": "logs/a.txt"}


def made(reviewer: Caller, harness: Caller, status: str = "completed") -> None:
    new_run(reviewer, "a", "b")
    update(harness, "a", status, artifacts=[ONE])


def test_the_answer_is_the_artifact_with_every_comment_oldest_first(
    reviewer: Caller, harness: Caller
) -> None:
    made(reviewer, harness)
    comment(reviewer, "one", "First.")
    write = comment(reviewer, "one", "Second.")
    artifact = write.full()
    assert [said["body"] for said in artifact["comments"]] == ["First.", "Second."]
    first = artifact["comments"][0]
    assert first["comment_id"].startswith("cmt_")
    assert (first["author"], first["actor"], first["via"]) == ("rita", "rita", "rest")
    assert first["created_at"] is not None
    assert (artifact["artifact_id"], artifact["ref"]) == ("one", "logs/a.txt")
    assert (write.minimal["path"], write.minimal["state"]) == ("", artifact)
    assert (write.minimal["run_status"], write.minimal["revision"]) == ("running", 4)
    assert node_at(get_run(caller=harness, run_id="r1"), "a")["artifacts"] == [artifact]


def test_a_comment_changes_nothing_but_the_revision(reviewer: Caller, harness: Caller) -> None:
    made(reviewer, harness)
    before = get_run(caller=harness, run_id="r1")
    comment(reviewer, "one", "A remark.")
    after = get_run(caller=harness, run_id="r1")
    assert after["revision"] == before["revision"] + 1
    node_at(after, "a")["artifacts"][0]["comments"] = []
    moved = {"revision", "updated_at"}
    assert {k: v for k, v in after.items() if k not in moved} == {
        k: v for k, v in before.items() if k not in moved
    }
    assert Report.objects.count() == 1
    entry = AuditEntry.objects.get(event="artifact.commented")
    assert (entry.actor, entry.run_id, entry.stream) == ("rita", "r1", "run:r1")
    assert json.loads(entry.text)["detail"]["body"] == "A remark."


def test_a_persons_token_may_name_an_author(reviewer: Caller, harness: Caller) -> None:
    made(reviewer, harness)
    token = Caller(
        actor="rita's script", role=reviewer.role, via="rest", user_id=reviewer.user_id, token_id=99
    )
    said = comment(token, "one", author="Ada").full()["comments"][0]
    assert (said["author"], said["actor"]) == ("Ada", "rita's script")
    said = comment(reviewer, "one", author="Ada").full()["comments"][1]
    assert (said["author"], said["actor"]) == ("rita", "rita")


@pytest.mark.parametrize("status", ["running", "completed", "failed"])
def test_work_at_any_status_may_be_commented(reviewer: Caller, harness: Caller, status: str) -> None:
    made(reviewer, harness, status)
    assert len(comment(reviewer, "one").full()["comments"]) == 1
    cancel_run(caller=reviewer, run_id="r1")
    assert len(comment(reviewer, "one").full()["comments"]) == 2


def test_an_instances_artifact_may_be_commented(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l")
    update_instance(harness, "l/inst_00", artifacts=[ONE])
    artifact = comment(reviewer, "one").full()
    assert node_at(get_run(caller=harness, run_id="r1"), "l/inst_00")["artifacts"] == [artifact]


def test_a_superseded_artifact_is_commented_where_it_lives_on(reviewer: Caller, harness: Caller) -> None:
    made(reviewer, harness)
    comment(reviewer, "one", "Before.")
    amend(reviewer, replay("a"), kind="history_edit")
    artifact = comment(reviewer, "one", "After.").full()
    assert [said["body"] for said in artifact["comments"]] == ["Before.", "After."]
    (before,) = node_at(get_run(caller=harness, run_id="r1"), "a")["history"]
    assert [said["body"] for said in before["artifacts"][0]["comments"]] == ["Before.", "After."]


def test_harnesses_and_viewers_do_not_comment(
    reviewer: Caller, harness: Caller, relay: Caller, viewer: Caller
) -> None:
    made(reviewer, harness)
    for caller in (harness, relay, viewer):
        with refused(Forbidden, "comment on an artifact"):
            comment(caller, "one")


def test_unknown_artifacts_and_runs_are_named(reviewer: Caller, harness: Caller) -> None:
    made(reviewer, harness)
    with refused(NotFound, "two"):
        comment(reviewer, "two")
    with refused(NotFound, "r2"):
        comment(reviewer, "one", run_id="r2")
    new_run(reviewer, run_id="r2")
    with refused(NotFound, "one"):
        comment(reviewer, "one", run_id="r2")


def test_a_stale_if_match_is_refused(reviewer: Caller, harness: Caller) -> None:
    made(reviewer, harness)
    with refused(PreconditionFailed, "revision 2"):
        comment_on_artifact(
            caller=reviewer, run_id="r1", artifact_id="one", comment={"body": "b"}, if_match=1
        )
