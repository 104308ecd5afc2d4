"""A served Chief for browsers: its people, and the harness that works through REST beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.servers import PATIENCE, Server

ROLES = {"reviewer": "reviewer", "viewer": "viewer"}
_MAKE = (
    "from chief_project.bootstrap import CLI;"
    "from chief_project.shared.caller import Role;"
    "from chief_project.shared.models import User;"
    "from chief_project.shared.services.create_user import create_user;"
    "made = {roles!r};"
    "[create_user(caller=CLI, username=name, role=Role(role)) for name, role in made.items()"
    " if not User.objects.filter(username=name).exists()]"
)


class Harness:
    """A harness's token over REST. Every answer is checked and given as JSON."""

    def __init__(self, url: str, token: str) -> None:
        self.http = httpx.Client(
            base_url=f"{url}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE
        )

    def get(self, path: str, **query: Any) -> Any:
        return self._checked(self.http.get(path, params=query))

    def post(self, path: str, body: Any = None) -> Any:
        return self._checked(self.http.post(path, json=body or {}))

    def put(self, path: str, body: Any) -> Any:
        return self._checked(self.http.put(path, json=body))

    # -- What the tests arrange most --------------------------------------------------------------

    def plan(self, title: str, steps: list[dict[str, Any]], **more: Any) -> str:
        """Submit a draft; answers its id."""
        body = {"title": title, "source": "generated", "generated_by": "claude-code", "steps": steps} | more
        return str(self.post("/workflows", body)["workflow_id"])

    def run(self, workflow_id: str, **metadata: Any) -> str:
        """Begin a run of an approved plan; answers its id."""
        return str(self.post(f"/workflows/{workflow_id}/runs", {"metadata": metadata})["run_id"])

    def report(self, run_id: str, path: str, summary: str, status: str | None = None, **more: Any) -> None:
        """Report on a step."""
        body = {"summary": summary} | ({"status": status} if status else {}) | more
        self.post(f"/runs/{run_id}/state/{path}/updates", body)

    def branch(self, run_id: str, construct: str, **metadata: Any) -> str:
        """Register an instance; answers its path."""
        made = self.post(f"/runs/{run_id}/state/{construct}/instances", {"metadata": metadata})
        return f"{construct}/{made['instance_id']}"

    @staticmethod
    def _checked(answer: httpx.Response) -> Any:
        assert answer.is_success, f"{answer.request.method} {answer.request.url}: {answer.text}"
        return answer.json() if answer.content else None


class Site:
    """A started server; people and tokens are made by its own commands, as an operator makes them."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.url = server.url
        self.cookies: dict[str, Any] = {}  # by username, once they have signed in
        server.manage("shell", "-v0", "-c", _MAKE.format(roles=ROLES))
        token = (self.server_data / "harness.token").read_text().strip()
        self.harness = Harness(self.url, token)
        self._persons: dict[str, Harness] = {}

    def close(self) -> None:
        """Close its clients."""
        for client in (self.harness, *self._persons.values()):
            client.http.close()

    @property
    def server_data(self) -> Path:
        return self.server.log.parent / "var"

    def put_away(self) -> None:
        """End whatever waits for a person: runs are cancelled, drafts archived."""
        person = self.person()
        waiting = person.get("/waiting", limit=1000)
        for run_id in {each["run_id"] for each in waiting if each["kind"] != "draft"}:
            person.post(f"/runs/{run_id}/cancel")
        for each in waiting:
            if each["kind"] == "draft":
                person.post(f"/workflows/{each['workflow_id']}/archive")

    def link(self, username: str) -> str:
        """A one-time sign-in link."""
        return self.server.manage("signin_link", username)

    def person(self, username: str = "owner") -> Harness:
        """A person's own token over REST, for what a test arranges in their name."""
        if username not in self._persons:
            kind = "admin" if username == "owner" else "reviewer"
            named = ("--user", username, "--name", f"{username} by hand")
            token = self.server.manage("create_token", "--kind", kind, *named)
            self._persons[username] = Harness(self.url, token.splitlines()[-1])
        return self._persons[username]
