"""Questions asked of a game and its answer."""
