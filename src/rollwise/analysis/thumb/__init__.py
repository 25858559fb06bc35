"""Rules that people can remember: their losses, and the search for the best ones."""
