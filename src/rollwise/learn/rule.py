"""The learner's rule of choice: from exploring to exploiting, at a speed set by M.

With K actions, f_J the win rate of action J (0.5 if it was never seen), B
the action with the highest rate, T the games that went through the state and g
the sum of f_J over all J but B,

    p_B = (T f_B + M) / (T f_B + K M)
    p_J = (1 - p_B) (T f_J + M) / (g T + (K - 1) M)    for every other J.

If rates tie, B is the first of them in the order of the rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from rollwise.errors import UsageError


def check_explore(explore: float) -> float:
    """M as a float, if it is a positive number.

    Raises
    ------
    UsageError
    """
    try:
        number = float(explore)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 < number < float("inf"):
        raise UsageError(
            f"M (explore) is {explore}; it must be a positive number: in an unseen position "
            "M alone sets the chances of the actions"
        )
    return number


def choice_probabilities(
    wins: Sequence[float],
    losses: Sequence[float],
    explore: float,
    draws: Sequence[float] | None = None,
) -> list[float]:
    """The probability of each action in a state, from its counts.

    Parameters
    ----------
    wins, losses, draws : (K,) sequences of numbers
        Games that went through each action. A draw is half a win.
    explore : float
        M: the larger, the longer the learner explores. It may be 0 only after a win.

    Returns
    -------
    list of float, one an action

    Raises
    ------
    UsageError
        M is negative, or zero without a win; the counts don't match.
    """
    draws = [0.0] * len(wins) if draws is None else draws
    if not len(wins) == len(losses) == len(draws) or not len(wins):
        raise UsageError("wins, losses and draws need one count for each action")
    if any(count < 0 for count in (*wins, *losses, *draws)):
        raise UsageError("a count of games can't be negative")
    seen = [w + x + d for w, x, d in zip(wins, losses, draws, strict=True)]
    rate = [(w + d / 2) / n if n else 0.5 for w, d, n in zip(wins, draws, seen, strict=True)]
    total, k = sum(seen), len(wins)
    best = rate.index(max(rate))
    if explore != 0 or total * rate[best] == 0:
        explore = check_explore(explore)
    others = sum(rate) - rate[best]
    p_best = (total * rate[best] + explore) / (total * rate[best] + k * explore)
    room = others * total + (k - 1) * explore
    share = (1 - p_best) / room if room > 0 else 0.0
    return [p_best if j == best else share * (total * f + explore) for j, f in enumerate(rate)]
