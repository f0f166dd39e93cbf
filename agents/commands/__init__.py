"""The commands: each a thin shell over the room."""
