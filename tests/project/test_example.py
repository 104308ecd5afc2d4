"""The product's main job from outside: a server as people start it, the example harness as a process, and a person.

Nothing is imported from the product and nothing is patched. The person signs in with the link and decides over REST.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import psycopg
import pytest
from django.conf import settings

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "examples" / "release-notes.plan.json"
LARGE = ROOT.parent / "shared" / "inputs" / "testcraft-34.plan.json"
PATIENCE = 300  # seconds, for a busy machine

pytestmark = pytest.mark.slow


def until(look, what):
    """What ``look`` finds, as soon as it finds something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"waited {PATIENCE} seconds, and still not: {what}")


class Server:
    """``manage.py serve`` with a data directory, a port and (on PostgreSQL) a database of its own."""

    def __init__(self, directory, environ):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.data = directory / "var"
        self.log = directory / "server.log"
        self.environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CHIEF_", "DATABASE_", "DJANGO_"))
        } | {"CHIEF_DATA_DIR": str(self.data), **environ}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--port", str(port)],
                cwd=ROOT,
                env=self.environ,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def answers(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return httpx.get(f"{self.url}/readyz").is_success
        except httpx.TransportError:
            return False

    def manage(self, *arguments):
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(scope="module")
def database():
    """What names an empty database: nothing for the default one in a file, or a new one beside the suite's."""
    suite = settings.DATABASES["default"]
    if not settings.ENVIRONMENT.postgresql:
        yield {}
        return
    name = f"chief_example_{os.getpid()}"
    where = {"host": suite["HOST"], "port": suite["PORT"] or 5432}
    who = {"user": suite["USER"], "password": suite["PASSWORD"]}
    url = "postgres://{user}:{password}@{host}:{port}/{name}".format(**where, **who, name=name)
    with psycopg.connect(**where, **who, dbname="postgres", autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name}")
        admin.execute(f"CREATE DATABASE {name}")
        yield {"DATABASE_URL": url, "CHIEF_SECRET_KEY": settings.SECRET_KEY}
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def server(tmp_path_factory, database):
    server = Server(tmp_path_factory.mktemp("example"), database)
    try:
        until(server.answers, "the server answers")
        yield server
    finally:
        server.process.terminate()
        server.process.wait(timeout=PATIENCE)


class Story:
    """A harness that walks a plan, and the person whose turn it is now and then."""

    def __init__(self, server, person):
        self.server = server
        self.person = person
        self.log = server.log.with_name("harness.log")
        self.walking = None
        self.workflow_id = self.run_id = None

    def start(self, *arguments):
        """The example, with the token that the first start left in the data directory."""
        told = ["--url", self.server.url, "--token-file", self.server.data / "harness.token", *arguments]
        with self.log.open("wb") as log:
            self.walking = subprocess.Popen(
                [sys.executable, "examples/harness.py", *told],
                cwd=ROOT,
                env=self.server.environ,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def kill(self):
        self.walking.kill()
        self.walking.wait()

    def ends_well(self):
        assert self.walking.wait(timeout=PATIENCE) == 0, self.log.read_text()
        return self.log.read_text()

    def get(self, path):
        return self.person.get(path).raise_for_status().json()

    def post(self, path, body):
        answer = self.person.post(path, json=body)
        assert answer.is_success, answer.text

    def until(self, look, what):
        def while_it_walks():
            found = look()
            assert found or self.walking.poll() is None, self.log.read_text()
            return found

        return until(while_it_walks, what)

    def draft_waits(self):
        drafts = self.until(lambda: self.get("/v1/workflows?status=draft"), "a draft waits")
        self.workflow_id = drafts[0]["workflow_id"]

    def approve(self):
        self.draft_waits()
        self.post(f"/v1/workflows/{self.workflow_id}/approve", {})
        runs = self.until(lambda: self.get(f"/v1/runs?workflow_id={self.workflow_id}"), "a run is registered")
        self.run_id = runs[0]["run_id"]

    def waits_at(self, step_id):
        """The place where the run waits for a person."""

        def look():
            blocked = self.get(f"/v1/runs/{self.run_id}/next")["blocked"]
            return [step["places"][0] for step in blocked if step["step_id"] == step_id]

        return self.until(look, f"'{step_id}' waits for a person")[0]

    def answer_the_question(self):
        place = self.waits_at("settle_readers")
        body = {"question_id": place["question"]["question_id"], "response": {"text": "Who runs a server."}}
        self.post(f"/v1/runs/{self.run_id}/answers/{place['path']}", body)

    def sign_off(self):
        place = self.waits_at("sign_off")
        body = {"decision": "approved", "response": {"version": "2.4.0"}}
        self.post(f"/v1/runs/{self.run_id}/resolutions/{place['path']}", body)


@contextlib.contextmanager
def told(server, person):
    """A story, whose harness doesn't outlive it."""
    story = Story(server, person)
    try:
        yield story
    finally:
        if story.walking is not None:
            story.kill()


@pytest.fixture
def story(server):
    """The person has signed in as the owner, by the link, as a browser does."""
    link = server.manage("signin_link")
    with httpx.Client(base_url=server.url, timeout=30) as person:
        assert person.get(link).is_success
        form = {"secret": link.rsplit("/", 1)[1], "csrfmiddlewaretoken": person.cookies["chief_csrf"]}
        assert person.post("/signin/link", data=form).status_code == 302
        person.headers["X-CSRFToken"] = person.cookies["chief_csrf"]
        with told(server, person) as story:
            yield story


def every_state(states):
    for state in states.values():
        yield state
        for instance in state["instances"] or []:
            yield from every_state(instance["step_states"])


def test_the_example_takes_the_shipped_plan_to_a_completed_run_while_a_person_decides(story):
    story.start()
    story.approve()
    story.answer_the_question()
    story.sign_off()
    output = story.ends_well()
    assert f"{story.server.url}/v1/workflows/{story.workflow_id}/approve" in output

    run = story.get(f"/v1/runs/{story.run_id}?include=plan")
    assert run["status"] == "completed"
    states = run["step_states"]
    assert "Who runs a server." in states["settle_readers"]["summary"]
    assert states["sign_off"]["checkpoint"]["response"] == {"version": "2.4.0"}
    assert states["sign_off"]["checkpoint"]["decided_by"] == "owner"
    areas = [instance["metadata"]["area"] for instance in states["areas"]["instances"]]
    assert areas == ["Command line", "Import and export", "Server"]
    assert len(states["polish"]["instances"]) == 2
    criteria = {step["id"]: {each["id"] for each in step["criteria"]} for step in run["plan"]["steps"]}
    for state in every_state(states):
        assert state["status"] == "completed"
        assert state["criteria_met"].keys() == criteria[state["step_id"]]

    actors = {}
    for entry in story.get(f"/v1/audit?workflow_id={story.workflow_id}&limit=1000"):
        actors.setdefault(entry["event"], set()).add(entry["actor"])
    for event in ("workflow.created", "run.registered", "step.updated", "step.question_asked"):
        assert actors[event] == {"harness"}
    for event in ("workflow.approved", "step.question_answered", "checkpoint.resolved"):
        assert actors[event] == {"owner"}
    story.server.manage("verify_audit")


def test_a_harness_that_dies_goes_on_where_it_was_and_does_nothing_twice(story):
    story.start()
    story.draft_waits()
    story.kill()
    story.start("--workflow", story.workflow_id)
    story.approve()
    story.waits_at("settle_readers")
    story.kill()
    story.start("--run", story.run_id)
    story.answer_the_question()
    story.waits_at("sign_off")
    story.kill()
    story.start("--run", story.run_id)
    story.sign_off()
    story.ends_well()

    assert len(story.get(f"/v1/runs?workflow_id={story.workflow_id}")) == 1
    run = story.get(f"/v1/runs/{story.run_id}")
    assert run["status"] == "completed"
    assert len(run["step_states"]["settle_readers"]["questions"]) == 1
    assert len(run["step_states"]["areas"]["instances"]) == 3
    for state in every_state(run["step_states"]):
        is_task = state["instances"] is None and state["checkpoint"] is None
        assert len(state["artifacts"]) == (1 if is_task else 0)


@pytest.mark.skipif(not LARGE.exists(), reason=f"needs {LARGE}, which the repository doesn't hold")
def test_the_example_completes_a_plan_of_34_steps_in_dependency_order(server):
    plan = json.loads(LARGE.read_text())
    token = server.manage("create_token", "--kind", "reviewer", "--name", "large-plan")
    headers = {"Authorization": f"Bearer {token}"}
    with (
        httpx.Client(base_url=server.url, headers=headers, timeout=30) as reviewer,
        told(server, reviewer) as story,
    ):
        story.start("--plan", LARGE)
        story.approve()
        output = story.ends_well()
        assert story.get(f"/v1/runs/{story.run_id}")["status"] == "completed"

    completed = re.findall(r"^  completed (\S+)$", output, re.MULTILINE)
    assert Counter(completed) == Counter(step["id"] for step in plan["steps"])
    for step in plan["steps"]:
        for needed in step["depends_on"]:
            assert completed.index(needed) < completed.index(step["id"])
