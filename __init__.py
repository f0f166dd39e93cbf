"""moot: a message bus and a referee, in files, for coding agents that share a repository."""
