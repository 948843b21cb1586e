"""The doors for agents and people: the MCP server and the plan explorer."""
