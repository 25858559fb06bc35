"""The work: which problems every tool is given, and the answer that it is held against.

A problem is a game for two, in which both choose; a game for two whose second player
follows a policy, so that one is left to choose; or a solitaire game. Its answer is
certified, and written with the arrays of its graph to a folder, from which the tools
take what they need. All answers are in what people ask for: the chance to win of the
player to move (of the first player, where the second follows a policy), or the
expected score.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ANSWERS = Path(__file__).parents[1] / "tests" / "answers.toml"
GRAPH = (
    "states",
    "action_indptr",
    "action_label",
    "action_reward",
    "outcome_indptr",
    "outcome_state",
    "outcome_weight",
    "outcome_passes",
    "outcome_payoff",
)


@dataclass(frozen=True)
class Work:
    """One problem.

    Attributes
    ----------
    name : str
        What `--only` takes.
    family : str
        A tool that doesn't finish one of a family isn't given the larger ones.
    against : str, optional
        The policy of the second player.
    quick : bool
        Whether `--quick` measures it.
    """

    name: str
    family: str
    game: str
    parameters: dict[str, Any] = field(default_factory=dict)
    against: str | None = None
    quick: bool = True

    @property
    def title(self) -> str:
        """The problem in words."""
        words = [self.game, *(f"{name}={value}" for name, value in self.parameters.items())]
        if self.against is not None:
            return f"{' '.join(words)}, the best response to {self.against}"
        return " ".join(words)

    @property
    def two_choose(self) -> bool:
        """Whether both players choose."""
        return self.against is None and bool(self.rules().players == 2)

    def rules(self) -> Any:
        """The game with its parameters."""
        from rollwise.games import find

        return find(self.game)(**self.parameters)


WORK = [
    Work("pig-25", "pig", "pig", {"target": 25}),
    Work("pig-100", "pig", "pig", {"target": 100}),
    Work("pig-25-response", "pig-response", "pig", {"target": 25}, "hold-at-20"),
    Work("pig-100-response", "pig-response", "pig", {"target": 100}, "hold-at-20", quick=False),
    Work("super-six-7", "super-six", "super-six", {"sticks": 7}),
    Work("super-six-40", "super-six", "super-six", {"sticks": 40}),
    Work("super-six-130", "super-six", "super-six", {"sticks": 130}),
    Work("super-six-400", "super-six", "super-six", {"sticks": 400}, quick=False),
    Work("super-six-1000", "super-six", "super-six", {"sticks": 1000}, quick=False),
    Work("threes", "threes", "threes"),
    Work("blackjack-15", "blackjack", "dice-blackjack", {"low": 15, "high": 17}),
    Work("blackjack-500", "blackjack", "dice-blackjack", {"low": 500, "high": 502}, quick=False),
]


def find_work(name: str) -> Work:
    """The problem of this name."""
    for work in WORK:
        if work.name == name:
            return work
    raise ValueError(f"there is no work {name!r} ({', '.join(work.name for work in WORK)})")


@dataclass(frozen=True)
class Problem:
    """A problem with its certified answer, in a folder.

    Attributes
    ----------
    folder : Path
    facts : dict
        ``players``, ``objective``, ``n_states`` and so on.
    """

    work: Work
    folder: Path
    facts: dict[str, Any]

    @classmethod
    def load(cls, work: Work, folder: Path) -> Problem:
        return cls(work, folder, json.loads((folder / "facts.json").read_text()))

    def array(self, name: str) -> NDArray[Any]:
        """An array of the graph, or ``worth`` or ``bounds``."""
        return np.load(self.folder / f"{name}.npy")

    @cached_property
    def worth(self) -> NDArray[np.float64]:
        """The certified answer, by state."""
        return self.array("worth")

    @property
    def is_score(self) -> bool:
        return bool(self.facts["objective"] != "win")

    @property
    def drn(self) -> Path:
        """Storm's explicit model, where there is one."""
        return self.folder / "model.drn"


def certified_answer(work: Work) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """The graph that models are made of, what its states are worth, and the proved errors."""
    import rollwise
    from rollwise.answer.evaluation import best_response
    from rollwise.answer.references import Policies
    from rollwise.export import one_chooser

    game = work.rules()
    if work.against is None:
        solution = rollwise.solve(game)
        graph, worth, bounds = solution.graph, solution.values, solution.error_bounds
        if solution.is_score:
            return graph, worth, bounds
        return graph, (1 + worth) / 2, bounds / 2
    graph = rollwise.build(game)
    policy = Policies(graph, game).find(work.against)
    best = best_response(graph, policy)
    assert best.bounds is not None
    assert best.bounds_second is not None
    return (
        one_chooser(graph, policy),
        np.concatenate([best.win_probability, best.win_probability_second]),
        np.concatenate([best.bounds, best.bounds_second]) / 2,
    )


def prepare(work: Work, folder: Path, with_model: bool) -> dict[str, Any]:
    """Solve a problem, check the answer, and write it with its graph; gives the facts.

    Raises
    ------
    AssertionError
        The answer isn't certified, or isn't the known one.
    """
    graph, worth, bounds = certified_answer(work)
    bound = float(bounds.max())
    assert bound < 1e-9, f"{work.name}: the certified error is {bound}"
    checked = check_known(work, graph.states, worth)
    for name in GRAPH:
        np.save(folder / f"{name}.npy", getattr(graph, name))
    np.save(folder / "worth.npy", worth)
    np.save(folder / "bounds.npy", bounds)
    facts = {
        **asdict(work),
        "players": graph.players,
        "objective": graph.objective,
        "n_states": graph.n_states,
        "n_actions": graph.n_actions,
        "n_outcomes": graph.n_outcomes,
        "bytes": graph.nbytes,
        "bound": bound,
        "checked": checked,
        "start": float(worth[0]),
    }
    (folder / "facts.json").write_text(json.dumps(facts))
    if with_model and not work.two_choose:
        from rollwise.export import write_drn

        write_drn(graph, folder / "model.drn")
    return facts


def check_known(work: Work, states: NDArray[np.int32], worth: NDArray[np.float64]) -> int:
    """Hold an answer against those known from outside; how many of them there were.

    Raises
    ------
    AssertionError
        It isn't the known one.
    """
    if work.against is not None:
        return 0
    known = tomllib.loads(ANSWERS.read_text())
    checked = 0
    defaults = work.rules().parameters
    for answer in known["answer"]:
        if answer["game"] != work.game:
            continue
        if {**type(work.rules())().parameters, **answer.get("parameters", {})} != defaults:
            continue
        text = answer["win_probability"]
        digits = len(text.partition(".")[2])
        allowed = 1e-12 if "/" in text else 0.5 * 10.0**-digits
        assert abs(worth[0] - float(Fraction(text))) <= allowed, f"{work.name}: {worth[0]}"
        checked += 1
    table = known.get(work.name, {})
    if "rows" in table:  # of some only figures are known
        columns = table["columns"]
        fields, at = states.shape[1], columns.index("prob")
        rows = {tuple(row): w for row, w in zip(states.tolist(), worth.tolist(), strict=True)}
        for row in table["rows"]:
            ours = rows[tuple(row[:fields])]
            assert abs(ours - float(row[at])) <= 1e-7, f"{work.name}: {row}: {ours}"
            checked += 1
    return checked
