"""The `chief` script, with locks that install nothing and mostly a stand-in for uv: quick, and without the network."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("basename", "cat", "dirname", "env", "head", "mv", "rm", "sed", "sh", "sleep")


@pytest.fixture
def checkout(tmp_path):
    """A folder with the script, locks that hold nothing, a manage.py that repeats its arguments."""
    root = tmp_path / "checkout with a space"
    commands = root / "chief_project" / "management" / "commands"
    commands.mkdir(parents=True)
    shutil.copy(ROOT / "chief", root / "chief")
    (commands / "greet.py").write_text('class Command:\n    help = "Say hello."\n')
    (root / "manage.py").write_text("import sys\nprint('ran', *sys.argv[1:])\n")
    (root / "requirements.lock").write_text("# nothing\n")
    (root / "requirements-dev.lock").write_text("# nothing\n")
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in TOOLS:
        (tools / tool).symlink_to(shutil.which(tool) or pytest.skip(f"needs {tool} on PATH"))
    return root


@pytest.fixture
def chief(checkout):
    def run(*arguments, **environ):
        return subprocess.Popen(
            [checkout / "chief", *arguments],
            env={"PATH": str(checkout.parent / "bin"), "HOME": str(checkout.parent), **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finished(*arguments, **environ):
        process = run(*arguments, **environ)
        output, errors = process.communicate(timeout=120)
        return process.returncode, output, errors

    finished.start = run
    return finished


def put_python(checkout, name="python3", *, text=None):
    path = checkout.parent / "bin" / name
    path.write_text(text or f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)


UV = """#!/bin/sh
# Does what the script asks of uv, in a moment; a lock that says "broken" can't be installed.
for last in "$@"; do :; done
case $1 in
    --version) echo stand-in ;;
    venv) exec "{python}" -m venv --without-pip "$last" ;;
    pip) case $(cat "$last") in *broken*) exit 1 ;; esac ;;
esac
"""


def put_uv(checkout):
    path = checkout.parent / "bin" / "uv"
    path.write_text(UV.format(python=sys.executable))
    path.chmod(0o755)


def test_alone_it_lists_the_commands_without_setting_up(chief, checkout):
    code, output, _ = chief()
    assert code == 0
    for command in ("serve", "test", "check", "lock"):
        assert f"\n  {command} " in output
    assert "greet             Say hello." in output
    assert not (checkout / ".venv").exists()


def test_without_a_fitting_python_it_says_so_in_one_line(chief, checkout):
    put_python(checkout, "python3", text="#!/bin/sh\necho 'no such version' >&2\nexit 127\n")
    code, output, errors = chief("greet")
    assert (code, output) == (1, "")
    assert errors.startswith("chief: needs Python 3.11 or newer")
    assert errors.count("\n") == 1


def test_it_passes_by_a_shim_that_fails_and_runs_the_command(chief, checkout):
    put_python(checkout, "python3", text="#!/bin/sh\nexit 127\n")
    put_python(checkout, "python3.12")
    code, output, errors = chief("greet", "two words", "--flag")
    assert code == 0, errors
    assert output == "ran greet two words --flag\n"  # alone on standard output
    assert "installing from requirements.lock" in errors


def test_it_installs_again_only_when_the_lock_changes_or_an_install_was_cut_short(chief, checkout):
    put_python(checkout)
    put_uv(checkout)
    assert "installing" in chief("greet")[2]
    assert chief("greet")[2] == ""
    (checkout / "requirements.lock").write_text("# nothing, again\n")
    assert "installing" in chief("greet")[2]
    assert chief("greet")[2] == ""
    (checkout / ".venv" / "chief-runtime.hash").unlink()  # as after an interrupted install
    assert "installing" in chief("greet")[2]


def test_an_install_that_fails_is_not_taken_as_done(chief, checkout):
    put_python(checkout)
    put_uv(checkout)
    (checkout / "requirements.lock").write_text("broken\n")
    for _ in range(2):
        code, output, errors = chief("greet")
        assert (code, output) == (1, "")
        assert "installing failed" in errors
    (checkout / "requirements.lock").write_text("# nothing\n")
    assert chief("greet")[:2] == (0, "ran greet\n")


def test_two_set_ups_at_once_take_turns(chief, checkout):
    put_python(checkout)
    put_uv(checkout)
    both = [chief.start("greet", str(number)) for number in range(2)]
    results = [(*process.communicate(timeout=120), process.returncode) for process in both]
    assert [output for output, _, _ in results] == ["ran greet 0\n", "ran greet 1\n"]
    assert "".join(errors for _, errors, _ in results).count("making .venv") == 1


def test_a_broken_venv_is_made_anew(chief, checkout):
    put_python(checkout)
    put_uv(checkout)
    chief("greet")
    python = checkout / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/not/there")
    code, output, errors = chief("greet")
    assert (code, output) == (0, "ran greet\n"), errors


def test_both_locks_pin_the_same_versions_and_name_no_index():
    def pins(name):
        lines = (ROOT / name).read_text().splitlines()
        return {line.split(" ")[0] for line in lines if "==" in line and not line.startswith((" ", "#"))}

    runtime, dev = pins("requirements.lock"), pins("requirements-dev.lock")
    assert runtime
    assert runtime <= dev
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        assert "--index" not in text
        assert text.count("--hash=sha256:") > len(runtime)


def test_the_scripts_may_be_run():
    assert all(os.access(ROOT / name, os.X_OK) for name in ("chief", "manage.py", ".ci/run"))
