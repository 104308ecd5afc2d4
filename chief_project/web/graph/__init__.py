"""The graph: a plan, a run or an amendment as an SVG of links, laid out on the server."""

from chief_project.web.graph.draw import draw_amendment, draw_plan, draw_run
from chief_project.web.graph.drawing import Drawing

__all__ = ["Drawing", "draw_amendment", "draw_plan", "draw_run"]
