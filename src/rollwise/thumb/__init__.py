"""Rules of thumb: the language in which they are written, and their words."""
