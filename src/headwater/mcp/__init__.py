"""An MCP server: assistants ask the questions of the page and the command line."""
