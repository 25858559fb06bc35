"""Models for model checkers: the PRISM language, Storm's explicit DRN format, and UMB.

PRISM language: Kwiatkowska, Norman and Parker (2011), "PRISM 4.0", CAV; games as in
PRISM-games 3.0 (CAV 2020). DRN: "direct encoding" in the documentation of Storm.

A finished game stays a moment in a state of its result ("won", "drawn" or "lost", for the first
player) and goes on to "finished". The reward "share" counts a draw as half a win there, so that
the win probability of this package is ``R{"share"}max=? [F "finished"]``, or
``Pmax=? [F "won"]`` without draws. In a game for stakes there is a state for each payoff. Rewards
can't be negative, so the reward "payoff" is the payoff above the smallest one; a comment names
the amount to subtract.

A total up to "finished" is infinite where play may go on for ever. If endless play is a loss of a
single player, the win probability is the total of all shares, ``R{"share"}max=? [C]``. No query
counts endless play as a draw, or as a loss of one of two players; a comment says so.

With three or more players each seat is a player of the model, and the results are still those of
the first one. A query for the first player has all others as one opponent, so its value is a lower
bound in every equilibrium.

UMB is the binary format of Storm, PRISM and Modest (https://github.com/pmc-tools/umb). States,
endings and rewards are the same there. Chances are fractions where the
weights are whole numbers. The variables of a state are its fields, and the number of its ending.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from rollwise import __version__
from rollwise.derive.seats import take_seats
from rollwise.errors import UsageError, no_opponent, spelled
from rollwise.graph import StateGraph, win_probability
from rollwise.graph.choices import chances, has_choice, outcome_action
from rollwise.graph.lotteries import pointers
from rollwise.graph.policies import Policy, outcome_payoffs
from rollwise.numbers.shares import MOST_PLAYERS
from rollwise.proofs.endless_play import endless_states

# Of the PRISM language, and the names of the models themselves.
KEYWORDS = """
A bool clock const ctmc C double dtmc E endinit endinvariant endmodule endplayer endobservables
endrewards endsystem false formula filter func F global G init invariant I int label max mdp min
module X nondeterministic observable observables over of Pmax Pmin P player pomdp popta
probabilistic prob pta rate rewards Rmax Rmin R S smg stochastic system true U W
won drawn lost finished share payoff points ending
"""

READ_BACK = ("drn", "umb")  # formats that `rollwise.models` reads

# The players of a model, by seat.
PLAYERS = ["first", "second", "third", *(f"player_{k}" for k in range(4, MOST_PLAYERS + 1))]


class Endings(NamedTuple):
    """How games end, in the first player's eyes, the best ending first.

    Attributes
    ----------
    names : tuple of str
        Such as ``won``, ``shared_0_25`` for that share of a win among three or more players, or
        ``payoff_3`` in a game for stakes.
    payoffs : tuple of float
    of_outcome : (n_outcomes,) int64
        The place of the ending of each outcome; -1 where the game goes on.
    """

    names: tuple[str, ...]
    payoffs: tuple[float, ...]
    of_outcome: NDArray[np.int64]


def one_chooser(graph: StateGraph, against: Policy | None = None) -> StateGraph:
    """One copy of the game for each player, with a field ``seat``; a game for one unchanged.

    With a policy `against` for all others, the first player is the only chooser.

    Raises
    ------
    UsageError
        A policy to play against in a game for one.
    """
    if graph.players > 1:
        return take_seats(graph, [None, *[against] * (graph.players - 1)]).graph
    if against is not None:
        raise no_opponent(graph.game)
    return graph


def seats(graph: StateGraph) -> NDArray[np.int64]:
    """The mover of each state of a graph from `one_chooser`: (n_states,)."""
    if graph.players > 1:
        return graph.rows[:, -1].astype(np.int64)
    return np.zeros(graph.n_states, np.int64)


def endings(graph: StateGraph) -> Endings:
    """How the game of a graph from `one_chooser` ends."""
    seat = seats(graph)[graph.action_state][outcome_action(graph)]
    payoff = outcome_payoffs(graph)[np.arange(len(seat)), -seat % graph.players] + 0.0
    over = graph.outcome_state < 0
    named = {1.0: "won", 0.0: "drawn", -1.0: "lost"}
    if graph.has_stakes:
        named = {x: f"payoff_{_as_word(x)}" for x in np.unique(payoff[over]).tolist()}
    elif graph.players > 2:  # shares of a win, as values from -1 to 1
        parts = {x: f"shared_{_as_word(x)}" for x in np.unique(payoff[over]).tolist()}
        payoff = 2.0 * payoff - 1.0
        named = {2.0 * x - 1.0: name for x, name in parts.items()} | {1.0: "won", -1.0: "lost"}
    payoffs = np.array(sorted(named))
    index = len(payoffs) - 1 - np.searchsorted(payoffs, payoff)
    given = tuple(payoffs[::-1].tolist())
    return Endings(tuple(named[x] for x in given), given, np.where(over, index, -1))


def _as_word(number: float) -> str:
    """A number as part of a name: ``minus_0_5``."""
    text = str(int(number) if number.is_integer() else number)
    return text.replace("-", "minus_").replace(".", "_").replace("+", "")


def require_rewards(graph: StateGraph, form: str) -> None:
    """Model checkers know no negative rewards.

    Raises
    ------
    UsageError
    """
    if graph.has_stakes and graph.players == 2 and bool(graph.lotteries.reward.any()):
        raise UsageError(
            f"{graph.title}: its players gain points from each other, and {form} models have no "
            "negative rewards"
        )
    if graph.objective != "win" and bool((graph.action_reward < 0).any()):
        a = int(np.flatnonzero(graph.action_reward < 0)[0])
        raise UsageError(
            f"{graph.title}: {graph.view.action(a)} brings {graph.action_reward[a]:g} points, and "
            f"{form} models have no negative rewards"
        )


def write_prism(graph: StateGraph, path: Path) -> None:
    """Write a graph from `one_chooser` in the PRISM language.

    An MDP where only the first player has a choice, else a game (``smg``) of the
    players ``first``, ``second`` and so on.

    Raises
    ------
    UsageError
        Negative rewards.
    """
    require_rewards(graph, "PRISM")
    with path.open("w", encoding="utf-8") as out:
        _prism(graph, out)


def _prism(graph: StateGraph, out: TextIO) -> None:
    is_game = others_choose(graph)
    fields = [_identifier(name) for name in graph.field_names]
    actions = {a: _identifier(name) for a, name in _names(graph).items()}
    who = seats(graph).tolist()
    sides = [f"{name}_" if is_game else "" for name in PLAYERS[: graph.players]]
    out.write(f"// {graph.title}, written by rollwise\n")
    for query in _queries(graph, is_game):
        out.write(f"//   {query}\n")
    out.write("smg\n\n" if is_game else "mdp\n\n")
    used: list[set[str]] = [set() for _ in sides]
    # the player of each command: PRISM wants them listed before the module
    for a, s in enumerate(graph.action_state.tolist()):
        used[who[s]].add(sides[who[s]] + actions[int(graph.action_label[a])])
    if is_game:
        listed = [sorted(names) for names in used]
        listed[0].append("finish")
        for player, commands in zip(PLAYERS, listed, strict=False):
            out.write(f"player {player} {', '.join(f'[{c}]' for c in commands)} endplayer\n")
        out.write("\n")
    out.write("module game\n")
    lows, highs = graph.rows.min(axis=0).tolist(), graph.rows.max(axis=0).tolist()
    for field, low, high, first in zip(fields, lows, highs, graph.row(0), strict=True):
        # PRISM wants a range of more than one value.
        out.write(f"  {field} : [{low}..{max(high, low + 1)}] init {first};\n")
    payoffs = endings(graph)
    last = len(payoffs.names) + 1
    ends = payoffs.of_outcome.tolist()
    about = ", ".join(f"{i} {name}" for i, name in enumerate((*payoffs.names, "finished"), 1))
    out.write(f"  ending : [0..{last}] init 0;  // {about}\n\n")
    states, chances_of = graph.rows.tolist(), _chances_as_text(graph)
    guards = [" & ".join(f"{f}={x}" for f, x in zip(fields, row, strict=True)) for row in states]
    rewards = []
    begin, targets = graph.outcome_indptr.tolist(), graph.outcome_state.tolist()
    labels, lotteries = graph.action_label.tolist(), graph.action_lottery.tolist()
    points = graph.action_reward.tolist()
    for a, s in enumerate(graph.action_state.tolist()):
        name = sides[who[s]] + actions[labels[a]]
        updates, here = [], states[s]
        for o, chance in enumerate(chances_of[lotteries[a]], begin[a]):
            if ends[o] >= 0:
                update = f"(ending'={ends[o] + 1})"
            else:
                # fields without a change keep their value
                there = states[targets[o]]
                moved = [f"({f}'={x})" for f, x, y in zip(fields, there, here, strict=True)
                         if x != y]  # fmt: skip
                update = " & ".join(moved) or "true"
            updates.append(f"{chance} : {update}")
        guard = f"ending=0 & {guards[s]}"
        out.write(f"  [{name}] {guard} -> {' + '.join(updates)};\n")
        if graph.objective != "win" and points[a]:
            rewards.append(f"  [{name}] {guard} : {points[a]:.17g};\n")
    out.write(f"  [finish] ending>0 & ending<{last} -> (ending'={last});\n")
    out.write(f"  [finish] ending={last} -> true;\nendmodule\n\n")
    for number, name in enumerate(payoffs.names, 1):
        out.write(f'label "{name}" = ending={number};\n')
    out.write(f'label "finished" = ending={last};\n\n')
    if graph.objective == "win":
        pairs = enumerate(shares(graph, payoffs), 1)
        lines = "".join(f"  ending={number} : {share:.17g};\n" for number, share in pairs if share)
        out.write(f'rewards "{reward_name(graph)}"\n{lines}endrewards\n')
    else:
        out.write(f'rewards "points"\n{"".join(rewards)}endrewards\n')


def _chances_as_text(graph: StateGraph) -> list[list[str]]:
    """The chances of each lottery: fractions where its weights are whole numbers."""
    lotteries, found = graph.lotteries, []
    for weights in map(np.ndarray.tolist, np.split(lotteries.weight, lotteries.indptr[1:-1])):
        if isinstance(weights[0], int):
            total = sum(weights)
            found.append([str(Fraction(weight, total)) for weight in weights])
        else:
            total = float(np.sum(weights))
            found.append([f"{weight / total:.17g}" for weight in weights])
    return found


def write_drn(graph: StateGraph, path: Path) -> None:
    """Write a graph from `one_chooser` as an MDP in Storm's explicit format.

    Raises
    ------
    UsageError
        Other players than the first choose (the format has one chooser), or negative rewards.
    """
    require_rewards(graph, "Storm")
    if others_choose(graph):
        raise UsageError(
            f"{graph.title} has choices of other players than the first: give their policy "
            f"({spelled(python='against', command_line='--against POLICY')}), or write a game in "
            f"the PRISM language ({spelled(python='prism', command_line='--to prism')})"
        )
    with path.open("w", encoding="utf-8") as out:
        _drn(graph, out)


def _drn(graph: StateGraph, out: TextIO) -> None:
    n = graph.n_states
    for_points = graph.objective != "win"
    out.write(f"// {graph.title}, written by rollwise\n")
    for query in _queries(graph, False):
        out.write(f"// {query}\n")
    out.write("@type: MDP\n@parameters\n\n@reward_models\n")
    payoffs = endings(graph)
    ended = len(payoffs.names)
    out.write(f"{reward_name(graph)}\n@nr_states\n{n + ended + 1}\n")
    out.write(f"@nr_choices\n{graph.n_actions + ended + 1}\n@model\n")
    names = {a: _identifier(name) for a, name in _names(graph).items()}
    target = np.where(payoffs.of_outcome < 0, graph.outcome_state, n + payoffs.of_outcome).tolist()
    begin, chance = graph.outcome_indptr.tolist(), chances(graph).tolist()
    labels, points = graph.action_label.tolist(), graph.action_reward.tolist()
    last = -1
    for a, s in enumerate(graph.action_state.tolist()):
        if s != last:
            out.write(f"state {s} [0]{' init' if s == 0 else ''}\n")
            last = s
        out.write(f"\taction {names[labels[a]]} [{points[a] if for_points else 0.0:.17g}]\n")
        # branches to one state are added, since a target may stand in a choice only once
        total: dict[int, float] = {}
        for o in range(begin[a], begin[a + 1]):
            total[target[o]] = total.get(target[o], 0.0) + chance[o]
        for t in sorted(total):
            out.write(f"\t\t{t} : {total[t]:.17g}\n")
    finish = f"\taction finish [0]\n\t\t{n + ended} : 1\n"
    for number, share in enumerate(shares(graph, payoffs)):
        out.write(f"state {n + number} [{share:.17g}] {payoffs.names[number]}\n{finish}")
    out.write(f"state {n + ended} [0] finished\n{finish}")


def reward_name(graph: StateGraph) -> str:
    """The name of the reward."""
    if graph.has_stakes:
        return "payoff"
    return "share" if graph.objective == "win" else "points"


def shares(graph: StateGraph, payoffs: Endings) -> list[float]:
    """The reward of each ending: payoffs from the smallest on, or shares of a win."""
    if graph.objective != "win":
        return [0.0] * len(payoffs.payoffs)
    if graph.has_stakes:
        return [payoff - _taken_off(payoffs) for payoff in payoffs.payoffs]
    return [win_probability(payoff) for payoff in payoffs.payoffs]


def _taken_off(payoffs: Endings) -> float:
    """The smallest payoff if it is negative; it is subtracted from all payoffs."""
    return min(*payoffs.payoffs, 0.0)


_ENDLESS = {
    "draw": "play may go on for ever, which is a draw",
    "lose": "play may go on for ever, which is a loss of the player who keeps it up",
}


def may_last(graph: StateGraph) -> bool:
    """Whether play may go on for ever, and the rules say its worth."""
    return graph.endless != "forbidden" and len(endless_states(graph)) > 0


def _lost_alone(graph: StateGraph) -> bool:
    """Whether endless play is a loss of a single player, so that the total of shares is right."""
    return graph.players == 1 and graph.endless == "lose" and not graph.has_stakes


def differences(graph: StateGraph, form: str) -> list[str]:
    """How the value of a model differs from that of the game, each in a line.

    Parameters
    ----------
    graph : StateGraph
        As it is written, from `one_chooser`.
    form : {"prism", "drn", "umb"}
    """
    found, payoffs = list[str](), endings(graph)
    if graph.has_stakes and (less := -_taken_off(payoffs)):
        found.append(
            f"payoffs are raised by {less:.17g}, as models have no negative rewards: subtract it "
            "from the value of the model"
        )
    if may_last(graph):
        text, best = _ENDLESS[graph.endless], payoffs.names[0]
        if not _lost_alone(graph):
            text += ", and no question about the model counts it so"
        if form in READ_BACK:
            text += f"; goal={best} rewards=none reads the chance of the ending {best} from it"
        found.append(text)
    return found


def _queries(graph: StateGraph, is_game: bool) -> Iterator[str]:
    """The queries for this package's values in a model checker."""
    who = "<<first>> " if is_game else ""
    if is_game and graph.players > 2:
        yield "all others play against the first player:"
    if may_last(graph):
        yield f'{who}Pmax=? [F "won"]' if not graph.has_stakes else "no query for the value:"
        if _lost_alone(graph):
            yield 'R{"share"}max=? [C]'
            return
        yield f"{_ENDLESS[graph.endless]}: queries count it as no win"
    elif graph.has_stakes:
        less = -_taken_off(endings(graph))
        then = f", less {less:.17g}: payoffs are raised by as much here" if less else ""
        yield f'{who}R{{"payoff"}}max=? [F "finished"]{then}'
    elif graph.objective == "win":
        yield f'{who}Pmax=? [F "won"]'
        yield f'{who}R{{"share"}}max=? [F "finished"]'
    else:
        yield f'R{{"points"}}{graph.objective[:3]}=? [F "finished"]'


def others_choose(graph: StateGraph) -> bool:
    """Whether a player besides the first has a choice."""
    return bool(np.any(seats(graph)[has_choice(graph)]))


def _names(graph: StateGraph) -> dict[int, str]:
    labels = np.unique(graph.action_label).tolist()
    return {label: graph.action_names.get(label, f"action_{label}") for label in labels}


def _identifier(name: str) -> str:
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not word or word[0].isdigit():
        word = f"_{word}"
    return f"{word}_" if word in KEYWORDS.split() else word


DOUBLE = {"type": "double", "size": 64}
RATIONAL = {"type": "rational", "size": 128}
INTEGER = {"type": "int", "size": 32}


def write_umb(graph: StateGraph, path: Path) -> None:
    """Write a graph from `one_chooser`: an MDP, or a game if others than the first player choose.

    Raises
    ------
    UsageError
        Negative rewards.
    """
    require_rewards(graph, "UMB")
    payoffs = endings(graph)
    n, last = graph.n_states, len(payoffs.names)
    # endings are states behind those of the graph; each leads to the last one, which stays
    ends = np.arange(last + 1)  # the last is "finished"
    is_game = others_choose(graph)
    n_states, n_choices = n + last + 1, graph.n_actions + last + 1
    labels, action = np.unique(graph.action_label, return_inverse=True)
    names = [*(graph.vocabulary.text(label) for label in labels.tolist()), "finish"]
    texts = [name.encode() for name in names]
    target = np.where(payoffs.of_outcome < 0, graph.outcome_state, n + payoffs.of_outcome)
    variables = np.zeros((n_states, len(graph.columns) + 1), "<i4")
    variables[:n, :-1], variables[n:, -1] = graph.rows, ends + 1
    rewards = np.zeros(n_choices)
    rewards[: graph.n_actions] = graph.action_reward if graph.objective != "win" else 0.0
    rewards[graph.n_actions : -1] = shares(graph, payoffs)
    kind, probability = _probability(graph, last + 1)
    parts: dict[str, Any] = {
        "state-to-choices.bin": _counted(np.diff(graph.action_indptr), last + 1),
        "state-to-player.bin": np.append(seats(graph), 0 * ends).astype("<u4"),
        "state-is-initial.bin": _bits(np.arange(n_states) == 0),
        "choice-to-branches.bin": _counted(np.diff(graph.outcome_indptr), last + 1),
        "branch-to-target.bin": np.append(target, n + np.full_like(ends, last)).astype("<u8"),
        "branch-to-probability.bin": probability,
        "actions/choices/values.bin": np.append(action, 0 * ends + len(labels)).astype("<u4"),
        "actions/choices/string-mapping.bin": np.cumsum([0, *map(len, texts)]).astype("<u8"),
        "actions/choices/strings.bin": np.frombuffer(b"".join(texts), np.uint8),
        f"annotations/rewards/{reward_name(graph)}/choices/values.bin": rewards.astype("<f8"),
        "valuations/states/valuations.bin": variables,
    }
    if not is_game:
        del parts["state-to-player.bin"]
    for number, name in enumerate([*payoffs.names, "finished"]):
        path_of_values = f"annotations/aps/{name}/states/values.bin"
        parts[path_of_values] = _bits(np.arange(n_states) == n + number)
    system = {
        "time": "discrete",
        "#players": graph.players if is_game else 1,
        "#states": n_states,
        "#initial-states": 1,
        "#choices": n_choices,
        "#choice-actions": len(names),
        "#branches": graph.n_outcomes + last + 1,
        "#branch-actions": 0,
        "#observations": 0,
        "branch-probability-type": kind,
    }
    if is_game:
        system["player-names"] = PLAYERS[: graph.players]
    fields = [*graph.columns, "ending"]
    of_states = [{"name": name, "type": INTEGER} for name in fields]
    index = {
        "format-version": 1,
        "format-revision": 0,
        "model-data": {
            "name": graph.title,
            "description": "\n".join(_queries(graph, is_game)),
        },
        "file-data": {"tool": "rollwise", "tool-version": __version__},
        "transition-system": system,
        "annotations": {
            "aps": {
                name: _annotation(name, "states", {"type": "bool", "size": 1})
                for name in (*payoffs.names, "finished")
            },
            "rewards": {reward_name(graph): _annotation(reward_name(graph), "choices", DOUBLE)},
        },
        "valuations": {"states": {"unique": True, "classes": [{"variables": of_states}]}},
    }
    _write(path, {"index.json": json.dumps(index, indent=1).encode()} | parts)


def _annotation(name: str, kind: str, of: dict[str, Any]) -> dict[str, Any]:
    return {"alias": name, "applies-to": [kind], "type": of}


def _probability(graph: StateGraph, more: int) -> tuple[dict[str, Any], Any]:
    """The type and the chances of the branches; `more` certain ones at the end."""
    weight = graph.outcome_weight
    if weight.dtype.kind == "f":
        return DOUBLE, np.append(chances(graph), np.ones(more)).astype("<f8")
    lotteries = graph.lotteries
    totals = np.add.reduceat(lotteries.weight, lotteries.indptr[:-1])
    total = totals[graph.action_lottery][outcome_action(graph)]
    common = np.gcd(weight, total)
    pairs = np.column_stack([weight // common, total // common])
    return RATIONAL, np.concatenate([pairs, np.ones((more, 2), np.int64)]).astype("<i8")


def _counted(sizes: Any, more: int) -> Any:
    """The first item of each, from the numbers of items; `more` have one each."""
    return pointers(np.append(sizes, np.ones(more, np.int64))).astype("<u8")


def _bits(mask: Any) -> Any:
    """A set of states as bits, in whole words of 64."""
    packed = np.packbits(mask, bitorder="little")
    return np.append(packed, np.zeros(-len(packed) % 8, np.uint8))


def _write(path: Path, parts: dict[str, Any]) -> None:
    with (
        path.open("wb") as out,
        # level 9 makes the file of Pig no smaller, and takes 30 times as long
        gzip.GzipFile("", "wb", 5, fileobj=out, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as tar,
    ):
        for name, part in parts.items():
            content = part if isinstance(part, bytes) else part.tobytes()
            about = tarfile.TarInfo(name)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
