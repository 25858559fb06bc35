"""The search for the values of a layer and for error bounds. No proof relies on it."""
