"""For those who make games: what parameters do, and what a change of rules does."""
