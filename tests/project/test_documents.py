"""What the pages for newcomers and contributors name is really there."""

import re
from pathlib import Path

import pytest
from django.urls import resolve

from chief_project.shared.http.fallbacks import no_route

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "integrations").rglob("*.md")])
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_one(page):
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_in_the_text_leads_to_a_file(page):
    """A path is what stands in backquotes with a slash and a suffix; rooms of an app are named without the app."""
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|json|lock|toml))`", page.read_text())
    made_up = {"workflows/services/pin_workflow.py"}
    places = (ROOT, ROOT / "chief_project")
    assert [
        path for path in set(named) - made_up if not any((place / path).exists() for place in places)
    ] == []


def test_the_readme_names_every_variable_that_is_read():
    source = (ROOT / "chief_project" / "environment.py").read_text()
    read = set(re.findall(r'environ, "((?:CHIEF|DATABASE)_\w+)"', source))
    assert len(read) > 8
    assert {name for name in read if f"`{name}`" not in README} == set()


def test_the_readme_names_every_command_of_ours():
    commands = [path.stem for path in (ROOT / "chief_project/management/commands").glob("[!_]*.py")]
    assert [name for name in commands if f"`./chief {name}" not in README] == []


def test_every_route_that_the_readme_calls_is_there():
    called = re.findall(r"(?:^|`)(?:say |curl -sS \$V1/)\"?([\w/-]+)", README, re.MULTILINE)
    assert len(called) > 12
    assert [path for path in called if resolve(f"/v1/{path}").func is no_route] == []


def test_no_browser_test_presses_a_key_that_may_come_before_the_scripts():
    """A key that comes before the page's scripts is lost, so a test's keys go through ``press``, which waits."""
    pressed = [
        path.name
        for path in (ROOT / "tests" / "browser").glob("*.py")
        if re.search(r"\b(?:keyboard|keys)\.(?:press|down)\(", path.read_text())
    ]
    assert pressed == ["browsers.py"]
