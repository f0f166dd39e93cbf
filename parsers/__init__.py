"""Text to values: pure, and nothing of ours below it."""
