"""The agent: it watches what Spark runs and says what was read, written and made of what."""
