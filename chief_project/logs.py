"""How Chief logs: one line per event on standard error, and never a token in it."""

from __future__ import annotations

import logging
import re
import time

_SECRETS = re.compile(
    r"""
      \bchf_[A-Za-z0-9_\-.]+                              # an API token
    | (?<=bearer\ )[^\s"',]+                              # whatever stands in an Authorization header
    | (?<=signin/link/)[^\s"'/?]+                        # the one-time part of a sign-in link
    | (?<=token=)[^\s"'&]+
    """,
    re.VERBOSE | re.IGNORECASE,
)


class OneLineFormatter(logging.Formatter):
    """Time in UTC, level, logger, message; line ends inside an event (a traceback) are written as `\\n`."""

    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    @staticmethod
    def converter(seconds: float | None) -> time.struct_time:
        return time.gmtime(seconds)

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record).replace("\r", "\\r").replace("\n", "\\n")
        return _SECRETS.sub("[hidden]", line)


def logging_settings(*, debug: bool, access_log: bool) -> dict[str, object]:
    """Django's LOGGING. Everything, uvicorn's loggers included, ends in the one handler."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": "chief_project.logs.OneLineFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            "django": {"level": "INFO", "handlers": [], "propagate": True},
            "django.server": {"level": "INFO", "handlers": [], "propagate": True},
            # A refused request is the caller's affair: 4xx are not events of this server.
            "django.request": {"level": "INFO" if debug else "ERROR"},
            # Nor is a request refused before any view (a foreign host): anybody could fill the log with tracebacks.
            "django.security": {"level": "INFO" if debug else "CRITICAL"},
            "axes": {"level": "WARNING"},
            "httpx": {"level": "WARNING"},
            "mcp": {"level": "WARNING"},  # a refused call is the agent's affair
            "uvicorn": {"level": "WARNING", "handlers": [], "propagate": True},
            "uvicorn.access": {
                "level": "INFO" if access_log else "WARNING",
                "handlers": [],
                "propagate": True,
            },
        },
    }
