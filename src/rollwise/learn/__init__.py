"""Learning by self-play: estimates of action values from games alone.

The learners use the graph only to play: they read no probability and
no value of it. Their result is an estimate, to be compared with the exact
solution by `rollwise.analysis.learning`.
"""

from rollwise.learn.learned import GameRecord, Learned, read_game_record
from rollwise.learn.learner import METHODS, Learner, choice_probabilities, learn

__all__ = [
    "METHODS",
    "GameRecord",
    "Learned",
    "Learner",
    "choice_probabilities",
    "learn",
    "read_game_record",
]
