"""Games of three or more players: an equilibrium and its proof."""
