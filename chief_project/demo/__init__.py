"""Believable work at every state, made through the same services as any other work (contract 11).

Its times and its doors are made up: nobody reviewed in a browser, and nothing took a week.
"""

from datetime import timedelta

from chief_project.demo import cast, research, reviews, runs
from chief_project.demo.stage import Stage
from chief_project.shared import clock
from chief_project.shared.models import User

LENGTH = timedelta(days=21)
"""How long before the present the demo begins."""


def play(*, owner: User) -> None:
    """Fill the database with the work of three weeks, up to a few minutes ago."""
    present = clock.now()
    with clock.telling(present - LENGTH):
        everybody = cast.gather(owner)
    Stage(everybody, present).play([*cast.SCENES, *reviews.SCENES, *runs.SCENES, *research.SCENES])


__all__ = ["LENGTH", "play"]
