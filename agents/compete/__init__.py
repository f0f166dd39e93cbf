"""compete: n workers, m proposals, choose k, or the union of all that is valid."""
