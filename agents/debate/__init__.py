"""A debate: everybody is asked at once, round by round; the record of it, and what is said of it."""
