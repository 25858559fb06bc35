"""A posterior of a player's policy, from the choices in recorded games.

Choices are smoothed by features: in a conditional logit (McFadden 1974) the probability of an
action is proportional to exp(w · f). The features f are the cost of the action against optimal
play, its features (`rollwise.thumb.features`) and, in games of few actions, its name times the
features of the state. The weights w have a normal prior. Its width is chosen by cross-validation.
The weighted likelihood bootstrap (Newton and Raftery 1994) gives the uncertainty of the weights:
they are fitted again and again to choices with exponential random weights, around a centre drawn
from the prior.
The player's probabilities in a state have a Dirichlet prior around the logit's. Its strength is one
of several, weighted by their likelihoods. Choices in the very state are added to it.

The result is a posterior distribution of the policy. It consists of estimates; no part is
certified.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.references import Policies
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import actions_of, fold_actions, has_choice
from rollwise.graph.policies import Policy
from rollwise.thumb.features import Features

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW_ACTIONS = 8  # up to this many labels each has weights of its own
WIDTHS = (0.3, 1.0, 3.0, 10.0)  # of the prior of the weights
FOLDS = 5  # of the cross-validation
STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # of the prior in a state, in choices
DRAWS = 60  # from the posterior, for the lower bounds
SURE = 0.05  # the quantile of the draws for a lower bound
STEPS = 100  # of Newton's method
PIECE = 20_000  # states drawn at a time


@dataclass(frozen=True, eq=False)
class Friend:
    """The posterior of a player's policy.

    Attributes
    ----------
    graph : StateGraph
    decisions : int
        Number of observed choices.
    states : int
        Number of distinct states of these choices.
    strengths : (n,) float64
        The probability of each of `STRENGTHS`: the number of choices in a state with the same
        weight as its features.
    """

    graph: StateGraph = field(repr=False)
    decisions: int
    states: int
    strengths: Floats = field(repr=False)
    _features: Floats = field(repr=False)  # of the actions in states with a choice
    _choices: Ints = field(repr=False)  # these states
    _actions: Ints = field(repr=False)
    _counts: Floats = field(repr=False)  # how often each action was taken
    _weights: Floats = field(repr=False)
    _drawn_weights: Floats = field(repr=False)  # (n_features, DRAWS)

    def mean(self, name: str = "friend") -> Policy:
        """The mean of the posterior, at the likeliest weights of the features."""
        owner, n = self._owner, len(self._choices)
        logit = _softmax(self._features @ self._weights, owner, n)
        chances = np.zeros(len(logit))
        for strength, share in zip(STRENGTHS, self.strengths, strict=True):
            shape = strength * logit + self._counts
            chances += share * shape / _sums(shape, owner, n)[owner]
        return self._policy(name, chances)

    def drawn(self, seed: int, draws: int) -> list[Policy]:
        """Policies from the posterior, `DRAWS` at most."""
        whole = np.concatenate(list(self._pieces(seed, draws)))
        return [self._policy(f"friend {k + 1}", column) for k, column in enumerate(whole.T)]

    def at_least(self, seed: int) -> Floats:
        """A lower bound on the probability of each action: a low quantile of the posterior.

        Returns
        -------
        (n_actions,) float64
            0 without a choice.
        """
        low = [np.quantile(part, SURE, axis=1) for part in self._pieces(seed, DRAWS)]
        least = np.zeros(self.graph.n_actions)
        least[self._actions] = np.concatenate(low)
        return least

    def _policy(self, name: str, weight: Floats) -> Policy:
        graph = self.graph
        probability = np.ones(graph.n_actions)  # where there is no choice, the only action
        probability[self._actions] = weight
        total = fold_actions(graph, np.add, probability)
        return Policy(name, probability / total[graph.action_state])

    @property
    def _owner(self) -> Ints:
        """The state of each action, counted among those with a choice."""
        return np.searchsorted(self._choices, self.graph.action_state[self._actions])

    def _pieces(self, seed: int, draws: int) -> Iterator[Floats]:
        """Probabilities drawn for the actions of some states, then of the next: (n, draws)."""
        random = np.random.default_rng(seed)
        strength = random.choice(STRENGTHS, draws, p=self.strengths)
        weights, owner = self._drawn_weights[:, :draws], self._owner
        for first in range(0, len(self._choices), PIECE):
            last = min(first + PIECE, len(self._choices))
            low, high = np.searchsorted(owner, [first, last])
            own, n = owner[low:high] - first, last - first
            mean = _softmax(self._features[low:high] @ weights, own, n)
            shape = strength * mean + self._counts[low:high, None]
            # gamma variates divided by their sum are a draw from the Dirichlet distribution
            gamma = np.maximum(random.standard_gamma(shape), 1e-300)
            yield gamma / _sums(gamma, own, n)[own]


def learn_friend(policies: Policies, actions: Ints, *, seed: int = 1) -> Friend:
    """Learn a policy from choices.

    Parameters
    ----------
    policies : Policies
    actions : (n_decisions,) int64
        The chosen actions, at states with a choice.
    seed : int
        Of the bootstrap.

    Raises
    ------
    UsageError
        There are none.
    """
    graph = policies.graph
    states = np.flatnonzero(has_choice(graph))
    of_choices, sizes = actions_of(graph, states)
    counts = np.bincount(actions, minlength=graph.n_actions).astype(float)[of_choices]
    if not counts.sum():
        raise UsageError("there is no choice to learn from")
    owner = np.repeat(np.arange(len(states)), sizes)
    times = _sums(counts, owner, len(states))
    seen = times > 0
    looked = seen[owner]
    features = _features(policies, of_choices, looked)
    small_owner = np.repeat(np.arange(int(seen.sum())), sizes[seen])
    small = _Data(features[looked], small_owner, counts[looked], times[seen])
    random = np.random.default_rng(seed)
    width = _width(small, random)
    weights = _fit(small, width)
    again = [
        # each choice with an exponential random number as its weight
        _fit(
            small.with_counts(random.standard_gamma(small.counts)),
            width,
            random.normal(0, width, len(weights)),
            weights,
        )
        for _ in range(DRAWS)
    ]
    mean = _softmax(small.features @ weights, small.owner, len(small.times))
    evidence = np.array([_evidence(strength, mean, small) for strength in STRENGTHS])
    strengths = np.exp(evidence - evidence.max())
    return Friend(
        graph,
        int(counts.sum()),
        int(seen.sum()),
        strengths / strengths.sum(),
        features,
        states,
        of_choices,
        counts,
        weights,
        np.column_stack(again),
    )


@dataclass(frozen=True)
class _Data:
    """The states of observed choices: features, states and counts of their actions."""

    features: Floats
    owner: Ints
    counts: Floats
    times: Floats

    def with_counts(self, counts: Floats) -> _Data:
        """These choices with other counts."""
        return _Data(self.features, self.owner, counts, _sums(counts, self.owner, len(self.times)))

    def likelihood(self, weights: Floats) -> float:
        """The logarithm of the likelihood of the choices."""
        mean = _softmax(self.features @ weights, self.owner, len(self.times))
        is_counted = self.counts > 0
        return float(self.counts[is_counted] @ np.log(np.maximum(mean[is_counted], 1e-300)))


def _features(policies: Policies, actions: Ints, looked: NDArray[np.bool_]) -> Floats:
    """The features of the logit: (n, n_features), about 1 in size at observed choices."""
    graph, solution = policies.graph, policies.solution
    of_game = Features(graph, policies.game)
    columns: list[NDArray[Any]] = [-solution.regret[actions]]
    columns += [values[actions] for values in of_game.actions.values()]
    labels = np.unique(graph.action_label[actions])
    if len(labels) <= FEW_ACTIONS:
        state = graph.action_state[actions]
        distances = [
            _scaled(values[state].astype(float), looked) for values in of_game.states.values()
        ]
        # only differences of utilities count, so the first label needs no weight
        for label in labels[1:]:
            named = (graph.action_label[actions] == label).astype(float)
            columns += [named, *(named * values for values in distances)]
    scaled = [_scaled(np.asarray(values, float), looked, centred=False) for values in columns]
    return np.column_stack(scaled)


def _scaled(values: Floats, looked: NDArray[np.bool_], *, centred: bool = True) -> Floats:
    spread = float(values[looked].std()) or 1.0
    middle = float(values[looked].mean()) if centred else 0.0
    return np.clip((values - middle) / spread, -30.0, 30.0)


def _sums(numbers: Floats, owner: Ints, n: int) -> Floats:
    """Sums over the actions of each of n states."""
    begins = np.searchsorted(owner, np.arange(n))
    return np.asarray(np.add.reduceat(numbers, begins, axis=0))


def _softmax(utility: Floats, owner: Ints, n: int) -> Floats:
    begins = np.searchsorted(owner, np.arange(n))
    most = np.maximum.reduceat(utility, begins, axis=0)
    # the largest utility of a state is subtracted, so that no power overflows
    power = np.exp(utility - most[owner])
    return np.asarray(power / _sums(power, owner, n)[owner])


def _width(data: _Data, random: np.random.Generator) -> float:
    """The width of the prior with the largest likelihood in cross-validation."""
    # each choice is an entry of its own: a fold may have some of the choices of a state
    each = np.repeat(np.arange(len(data.counts)), data.counts.astype(int))
    fold = random.permutation(len(each)) % FOLDS
    evidence = dict.fromkeys(WIDTHS, 0.0)
    for k in range(FOLDS):
        left_out = np.bincount(each[fold == k], minlength=len(data.counts)).astype(float)
        seen = data.with_counts(data.counts - left_out)
        for width in WIDTHS:
            evidence[width] += data.with_counts(left_out).likelihood(_fit(seen, width))
    return max(WIDTHS, key=lambda width: evidence[width])


def _fit(
    data: _Data, width: float, centre: Floats | None = None, start: Floats | None = None
) -> Floats:
    """The likeliest weights under a normal prior (Newton's method).

    Parameters
    ----------
    width : float
    centre : (n_features,) float64, optional
        Of the prior: 0 unless given.
    start : (n_features,) float64, optional
        The first weights of the search.
    """
    n, precision = data.features.shape[1], 1 / width**2
    centre = np.zeros(n) if centre is None else centre
    weights = centre.copy() if start is None else start.copy()

    def loss(at: Floats) -> float:
        away = at - centre
        return precision * float(away @ away) / 2 - data.likelihood(at)

    here = loss(weights)
    for _ in range(STEPS):
        gradient, curvature = _slopes(data, weights, precision)
        step = np.linalg.solve(curvature, gradient - precision * centre)
        # the step is halved until the loss falls
        length = 1.0
        while length > 1e-6 and loss(weights - length * step) > here:
            length /= 2
        weights = weights - length * step
        before, here = here, loss(weights)
        if before - here < 1e-7 * max(1.0, abs(here)):
            break
    return weights


def _slopes(data: _Data, weights: Floats, precision: float) -> tuple[Floats, Floats]:
    """Gradient and curvature of the loss."""
    n = len(data.times)
    mean = _softmax(data.features @ weights, data.owner, n)
    expected = data.times[data.owner] * mean
    gradient = precision * weights - data.features.T @ (data.counts - expected)
    centre = _sums(mean[:, None] * data.features, data.owner, n)
    # the covariance of the features under the present probabilities, plus the precision
    curvature = data.features.T @ (expected[:, None] * data.features)
    curvature -= centre.T @ (data.times[:, None] * centre)
    curvature[np.diag_indices_from(curvature)] += precision
    return gradient, curvature


def _evidence(strength: float, mean: Floats, data: _Data) -> float:
    """The logarithm of the likelihood of the choices, for a Dirichlet prior of this weight."""
    from scipy.special import gammaln

    shape = np.maximum(strength * mean, 1e-12)
    of_actions = gammaln(shape + data.counts) - gammaln(shape)
    of_states = gammaln(strength) - gammaln(strength + data.times)
    return float(of_actions.sum() + of_states.sum())
