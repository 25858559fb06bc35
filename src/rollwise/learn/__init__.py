"""Learning by self-play: estimates of what actions are worth, from games alone.

The learners see the graph only as a thing to play on: they use no probability and
no value of it. What they find is an estimate, to be held against the exact
solution with `rollwise.analysis.learning`.
"""

from rollwise.learn.episodes import GameRecord, read_game_record
from rollwise.learn.learned import Learned
from rollwise.learn.learner import METHODS, Learner, learn
from rollwise.learn.rule import choice_probabilities

__all__ = [
    "METHODS",
    "GameRecord",
    "Learned",
    "Learner",
    "choice_probabilities",
    "learn",
    "read_game_record",
]
