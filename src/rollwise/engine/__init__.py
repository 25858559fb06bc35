"""The search for the values of a layer, and for bounds of their errors. Nothing here is trusted."""
