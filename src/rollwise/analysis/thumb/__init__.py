"""Rules that people can remember: what each costs, and the search for those that cost least."""
