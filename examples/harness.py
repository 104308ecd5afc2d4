"""A small harness: it submits a plan, waits until a person approves it, and works through it step by step.

    python examples/harness.py [--plan FILE]            from a plan's file to a completed run
    python examples/harness.py --workflow WORKFLOW_ID   go on after an interruption: still waiting for approval
    python examples/harness.py --run RUN_ID             go on after an interruption: in the middle of a run

Chief executes nothing. A harness does the work, and asks Chief two things: has this plan been approved, and what may
be done next, which also says what people answered and decided. Only `do_the_work` is pretended here; your agent
belongs in its place.
"""

import argparse
import json
import os
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

LOOK_EVERY = 1.0  # seconds between two looks while it is a person's turn
PLAN = Path(__file__).with_name("release-notes.plan.json")
TOKEN_FILE = Path(__file__).parents[1] / "var" / "harness.token"
Document = dict[str, Any]


class Chief:
    """The calls that a harness needs. Preferring a minimal answer, it is told what changed and not the whole run."""

    def __init__(self, url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}", "Prefer": "return=minimal"}
        self.url = url.rstrip("/")
        self.http = httpx.Client(base_url=self.url, headers=headers, timeout=30)

    def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        for pause in (1, 4, 16):
            try:
                answer = self.http.request(method, path, **request)
            except httpx.TransportError:
                time.sleep(pause)
                continue
            if answer.is_error:  # the text says what is wrong and what to do instead: show it to your agent
                sys.exit(f"Chief refused {method} {path}: {answer.text}")
            return answer
        sys.exit(f"Chief doesn't answer at {self.url}: is it elsewhere? Give --url or set CHIEF_URL")

    def post(self, path: str, body: Document) -> Document:
        """With a key, so that a POST whose answer got lost can be repeated and is carried out once."""
        return self.send("POST", path, json=body, headers={"Idempotency-Key": str(uuid.uuid4())}).json()

    def changes(self, path: str) -> Iterator[Document]:
        """The document at `path` now, and again whenever it has changed; a look in between is a small 304."""
        known: dict[str, str] = {}
        while True:
            answer = self.send("GET", path, headers=known)
            if answer.status_code == 304:
                time.sleep(LOOK_EVERY)
                continue
            known = {"If-None-Match": answer.headers["ETag"]}
            yield answer.json()


def do_the_work(step: Document, place: Document, said: list[str]) -> str:
    """Where your agent works. Here it only says so. `said` is what people answered and decided."""
    return ", ".join([f"Done: {step['goal'].rstrip('.')}", *map(str, place["parameters"].values()), *said])


def take_step(chief: Chief, run: str, step: Document, place: Document) -> None:
    """A ready step, in one place: say that it begins, do it, say how each criterion is met."""
    reports = f"{run}/state/{place['path']}/updates"
    if step["status"] == "pending":  # otherwise it goes on after an interruption
        chief.post(reports, {"status": "running", "summary": "Begun."})
    if step["type"] == "checkpoint":  # from here on it is a person's
        return
    question = step["inputs"].get("question")  # a real harness asks when it doesn't know
    if question and not place["answers"]:
        chief.post(f"{run}/questions/{place['path']}", {"text": question})
        return
    heard = [*place["decisions"], *place["answers"]]  # one that was closed unanswered has no response
    said = [text for each in heard for text in (each["response"] or {}).values()]
    result = do_the_work(step, place, said)
    met = dict.fromkeys(place["unanswered"], result)
    made = [{"type": "text/plain", "description": "What came out", "data": result}]
    chief.post(reports, {"status": "completed", "summary": result, "criteria_met": met, "artifacts": made})
    print(f"  completed {place['path']}")


def drive_construct(chief: Chief, run: str, step: Document, place: Document) -> None:
    """A loop or parallel: register an instance each time its body is to run, then close it."""
    names = [parameter["name"] for parameter in step["instance_params"]]
    values = [step["inputs"].get(name, [f"{name} 1", f"{name} 2"]) for name in names]
    rounds = list(zip(*values, strict=False)) if names else [(), ()]  # a real harness finds out as it goes
    if place["registered"] < len(rounds) and (step["type"] == "parallel" or not place["open"]):
        brings = dict(zip(names, rounds[place["registered"]], strict=True))
        chief.post(f"{run}/state/{place['path']}/instances", {"metadata": brings})
    elif not place["open"]:
        last = {"summary": "No more will come.", "instances_closed": True}
        chief.post(f"{run}/state/{place['path']}/updates", last)


def turn_of_a_person(url: str, run: str, step: Document, place: Document) -> str:
    """What a person is asked, the page to answer it on, and the request that does the same."""
    if place["question"]:
        what, route = place["question"]["text"], "answers"
        body = {"question_id": place["question"]["question_id"], "response": {"text": "…"}}
    else:
        what, route = step["goal"], "resolutions"
        body = {"decision": "approved", "response": {field["name"]: "…" for field in step["fields"]}}
    to_send = json.dumps(body, ensure_ascii=False)
    page = f"{url}{run.removeprefix('/v1')}?step={place['path']}"
    return f"  a person's turn: {what}\n    {page}\n    or POST {url}{run}/{route}/{place['path']} {to_send}"


def walk(chief: Chief, run: str) -> bool:
    """Do what may be done until nothing is left; wait wherever it is a person's turn. Whether it was completed.

    Each round asks what is next and starts from nothing else, so that an interruption loses nothing.
    """
    told: set[str] = set()
    for todo in chief.changes(f"{run}/next"):
        for step in todo["constructs"]:
            for place in step["places"]:
                drive_construct(chief, run, step, place)
        for step in todo["ready"]:
            for place in step["places"]:
                take_step(chief, run, step, place)
        for step in todo["blocked"]:
            for place in step["places"]:
                turn = turn_of_a_person(chief.url, run, step, place)
                if turn not in told:
                    print(turn)
                told.add(turn)
        if todo["done"]:
            print(todo["hint"])
            break
    return bool(todo["run_status"] == "completed")


def wait_for_approval(chief: Chief, workflow_id: str) -> None:
    for workflow in chief.changes(f"/v1/workflows/{workflow_id}"):
        if workflow["status"] == "approved":
            return
        if workflow["status"] == "archived":
            sys.exit("The plan was turned down.")
        if workflow["review"]["state"] == "sent_back":  # a real harness revises it: PUT /v1/workflows/{id}
            sys.exit(f"Changes are wanted: {workflow['review']['reason']}")


def main() -> None:
    parser = argparse.ArgumentParser(description="From a plan to a completed run.")
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--plan", type=Path, default=PLAN, help="a plan's file (release-notes.plan.json)")
    start.add_argument("--workflow", metavar="WORKFLOW_ID", help="go on with a plan that was submitted")
    start.add_argument("--run", metavar="RUN_ID", help="go on with a run that was registered")
    parser.add_argument("--url", default=os.environ.get("CHIEF_URL", "http://127.0.0.1:8000"))
    parser.add_argument("--token-file", type=Path, default=TOKEN_FILE, help="used unless CHIEF_TOKEN is set")
    given = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    chief = Chief(given.url, os.environ.get("CHIEF_TOKEN") or given.token_file.read_text().strip())
    workflow_id, run_id = given.workflow, given.run
    if not run_id:
        if not workflow_id:
            workflow_id = chief.post("/v1/workflows", json.loads(given.plan.read_text()))["workflow_id"]
        print(f"A person's turn: read and approve {chief.url}/workflows/{workflow_id}")
        print(f"    or POST {chief.url}/v1/workflows/{workflow_id}/approve")
        wait_for_approval(chief, workflow_id)
        run_id = chief.post(f"/v1/workflows/{workflow_id}/runs", {})["run_id"]
    print(f"Running {chief.url}/runs/{run_id} (after an interruption: --run {run_id})")
    sys.exit(0 if walk(chief, f"/v1/runs/{run_id}") else 1)


if __name__ == "__main__":
    main()
