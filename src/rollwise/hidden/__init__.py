"""Games with hidden dice or cards, or with simultaneous choices.

Those for one player become games of beliefs (`beliefs`), which all other rooms take. The rest of
this room is for two.

`reading` reads the rules into `positions`. With hidden fields, `rounds` finds the positions at
which the game begins anew, and `tree` unfolds each round into information sets; `program` solves
them by linear programming, and `regret` by regret minimization where there are many. `cycles` has
the values of rounds that can return to each other. With simultaneous choices, `stochastic` solves a
matrix game at each position. `check` proves every answer and imports no search. `answer` has the
questions, `whole` makes one answer of those to the rounds, `solving` has the search, and `files`
saved answers.
"""

from rollwise.hidden.answer import Answer as Answer
from rollwise.hidden.answer import Situation as Situation
from rollwise.hidden.files import load as load
from rollwise.hidden.files import save as save
from rollwise.hidden.files import verify as verify
from rollwise.hidden.solving import solve as solve
