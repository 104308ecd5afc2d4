"""The lines that connect a client with a token: those of ``integrations/``, with this instance's address."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lines:
    """What to paste, and a key that names where (the page says it in words)."""

    key: str
    text: str


def lines_for(*, url: str, token: str, kind: str) -> list[Lines]:
    """First the token into the environment, then each client; agents are for harness tokens only."""
    found = [
        Lines("shell", f'export CHIEF_TOKEN="{token}"'),
        Lines("rest", f'curl -sS {url}/v1/me -H "Authorization: Bearer $CHIEF_TOKEN"'),
    ]
    if kind == "harness":
        found += [
            Lines(
                "claude-code",
                f'claude mcp add --transport http chief {url}/mcp --header "Authorization: Bearer $CHIEF_TOKEN"',
            ),
            Lines(
                "codex",
                f'[mcp_servers.chief]\nurl = "{url}/mcp"\nbearer_token_env_var = "CHIEF_TOKEN"\ntool_timeout_sec = 90',
            ),
        ]
    return found
