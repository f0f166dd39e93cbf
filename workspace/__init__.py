"""The folder on disk: where it is, what it holds, how git keeps it."""
