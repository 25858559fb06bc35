"""Games of three or more players: an equilibrium, and what proves it."""
