"""Every refusal has one shape (contract 1)."""

import pytest
from django.test import Client


@pytest.mark.django_db
def test_an_unknown_route_answers_in_the_envelope(client: Client) -> None:
    answer = client.get("/v1/nowhere")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"
