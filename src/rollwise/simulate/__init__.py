"""Policies at play: many games in compiled code, one told move by move, tournaments."""

from rollwise.simulate.match import Disagreement, Estimate, Length, Match, Side, simulate
from rollwise.simulate.seats import SeatsTournament
from rollwise.simulate.tell import ToldMove, tell
from rollwise.simulate.tournament import Entry, Tournament, tournament

__all__ = [
    "Disagreement",
    "Entry",
    "Estimate",
    "Length",
    "Match",
    "SeatsTournament",
    "Side",
    "ToldMove",
    "Tournament",
    "simulate",
    "tell",
    "tournament",
]
