"""Who takes part: roster, protocols, referee, runners, commands."""
