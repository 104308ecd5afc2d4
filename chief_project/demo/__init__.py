"""Believable work at every state, made through the same services as any other work (contract 11)."""

from chief_project.demo.scenes import play

__all__ = ["play"]
