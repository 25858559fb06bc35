"""Rules of thumb: their language, and their words."""
