"""One command a module; each is found by itself."""
