"""Plans that people and programs made elsewhere are taken as they are."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from tests.plans import task
from workflows.mappers import plan_cache

pytestmark = pytest.mark.django_db

INPUTS = Path(__file__).resolve().parents[3] / "shared" / "inputs"
PLANS = sorted(INPUTS.glob("*.plan.json")) if INPUTS.is_dir() else []


@pytest.mark.skipif(not PLANS, reason=f"{INPUTS} is not there")
@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.name.split(".")[0])
def test_a_real_plan_is_kept_as_it_came(
    path: Path, api_as: Callable[..., APIClient], harness_token: str
) -> None:
    api = api_as(harness_token)
    body = json.loads(path.read_text())
    made = api.post("/v1/workflows", body)
    assert made.status_code == 201, made.content[:500]
    plan_cache.clear()
    found = api.get(f"/v1/workflows/{made.json()['workflow_id']}").json()
    assert found == made.json()
    assert len(found["steps"]) == len(body["steps"])
    for sent, kept in zip(body["steps"], found["steps"], strict=True):
        assert {key: kept[key] for key in sent if key != "criteria"} == {
            key: value for key, value in sent.items() if key != "criteria"
        }
    answer = {key: found[key] for key in ("title", "steps", "groups")}
    assert api.put(f"/v1/workflows/{found['workflow_id']}", answer).json()["steps"] == found["steps"]
    assert api.get(f"/v1/workflows/{found['workflow_id']}/diff").json()["same"] is True
    words = f"{body['steps'][-1]['id']} {body['title']}"
    listed = api.get("/v1/workflows", {"q": words}).json()
    assert [each["workflow_id"] for each in listed] == [found["workflow_id"]]


def test_a_chain_of_5000_steps_declared_backwards_is_taken(
    api_as: Callable[..., APIClient], harness_token: str
) -> None:
    api = api_as(harness_token)
    steps = [task(f"s{n}", depends_on=[f"s{n - 1}"] if n else []) for n in range(5_000)][::-1]
    made = api.post("/v1/workflows", {"title": "Long", "source": "import", "steps": steps})
    assert (made.status_code, len(made.json()["steps"])) == (201, 5_000)
    steps[-1]["depends_on"] = ["s4999"]
    refused = api.post("/v1/workflows", {"title": "Round", "source": "import", "steps": steps})
    assert refused.status_code == 422
    assert "dependency cycle" in refused.json()["error"]["message"]
    assert len(refused.content) < 2_000


@pytest.mark.parametrize(("depth", "status"), [(64, 201), (65, 422), (1_000, 422)])
def test_bodies_nest_64_deep_and_no_deeper(
    depth: int, status: int, api_as: Callable[..., APIClient], harness_token: str
) -> None:
    steps = [task(f"l{n}", type="loop", body=[f"l{n + 1}"]) for n in range(depth)] + [task(f"l{depth}")]
    body = {"title": "Deep", "source": "import", "steps": steps}
    answer = api_as(harness_token).post("/v1/workflows", body)
    assert answer.status_code == status
    assert status == 201 or "more than 64 deep" in answer.json()["error"]["message"]
