"""A log holds one line per event and never a token."""

import logging
import sys

import pytest
from django.urls import reverse

from chief_project.logs import OneLineFormatter, logging_settings


def line(message, *args, exc_info=None):
    record = logging.LogRecord("chief", logging.ERROR, __file__, 1, message, args, exc_info)
    return OneLineFormatter("%(asctime)s %(message)s").format(record)


@pytest.mark.parametrize(
    "text",
    [
        "used chf_s3cret-S3CRET_x.y",
        "header Authorization: Bearer s3cret",
        f"GET {reverse('sign-in-link-page', args=['s3cret'])} HTTP/1.1",
        "GET /signin/link/s3cret?from=mail HTTP/1.1",
        "GET /x?token=s3cret&y=1",
    ],
)
def test_no_token_is_ever_logged(text):
    assert "s3cret" not in line("%s", text).lower()
    assert "[hidden]" in line(text)


def test_a_traceback_stays_on_its_events_line():
    try:
        raise RuntimeError("two\nlines of chf_s3cret")
    except RuntimeError:
        text = line("broke", exc_info=sys.exc_info())
    assert "\n" not in text
    assert "s3cret" not in text
    assert "RuntimeError" in text


def test_a_request_that_is_refused_is_no_event_of_the_log():
    levels = logging_settings(debug=False, access_log=False)["loggers"]
    assert levels["django.request"]["level"] == "ERROR"
    assert levels["django.security"]["level"] == "CRITICAL"
