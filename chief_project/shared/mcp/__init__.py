"""What every MCP tool shares (contract 10): how it is declared, what it takes, the guard around its one call."""

from chief_project.shared.mcp.answers import cut, listed, pruned, within
from chief_project.shared.mcp.tools import Answer, Call, Outcome, Tool, carry_out, refused

__all__ = ["Answer", "Call", "Outcome", "Tool", "carry_out", "cut", "listed", "pruned", "refused", "within"]
