"""Learning by self-play: estimates of action values from games alone.

The learners use the graph only to play: they read no probability and
no value of it. Their result is an estimate, to be compared with the exact
solution by `rollwise.analysis.learning`.
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
