"""The catalog: groups and leaves read from Markdown, compiled, matched against a query."""
