"""Building a graph in compiled code, for games of more than a few thousand states."""
