"""Pictures: what they show is what the solution says, for any game."""

from __future__ import annotations

import base64
import gzip
import json
import re
from enum import IntEnum
from functools import cache
from itertools import product
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output, run
from little_games import Faces, Ladder, MarkedBoard, Search, Shortest, TurnedBoard
from throwing import Runners, TwoBoxes

import rollwise
from rollwise import boards
from rollwise.analysis.distributions import Distribution
from rollwise.answer.solve import solve
from rollwise.errors import UsageError
from rollwise.export import export
from rollwise.game import AGAIN, END, LOSE, PASS, WIN, Game
from rollwise.games import available
from rollwise.games.craps import Craps
from rollwise.games.frozen_lake import FrozenLake
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.hog import Hog
from rollwise.games.pig import Pig, Piglet
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.graph import NO_THROW
from rollwise.methods import run_method
from rollwise.plot import Choices, plot
from rollwise.plot.boards import Cards
from rollwise.plot.fields import view
from rollwise.plot.kinds.error import trace
from rollwise.plot.kinds.limit import turn_field
from rollwise.plot.kinds.policy import best_classes
from rollwise.plot.pages import page

EXAMPLE = Path(__file__).parent.parent / "examples" / "hit_the_mark.py"


@cache
def solved(game: Game) -> rollwise.Solution:
    return rollwise.solve(game)


GAMES = (
    Pig(target=15),
    SuperSix(sticks=7),
    SuperSix(sticks=40),
    HareAndTortoise(steps=8),
    Threes(dice=3),
    Ladder(),
)


def cells(figure, number):
    """The cells of a panel that hold something: x, y, what is shown, and the hover text."""
    trace = [trace for trace in figure.data if trace.type == "heatmap"][number]
    z = np.asarray(trace.z, float)
    for row, column in np.argwhere(np.isfinite(z)):
        yield (
            int(trace.x[column]),
            int(trace.y[row]),
            float(z[row, column]),
            trace.hovertext[row, column],
        )


def panels(solution, figure, kind, answer, **choices):
    """Pair each cell drawn with the state that it must be."""
    graph = solution.graph
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    choice = np.diff(graph.action_indptr) > 1
    states = np.arange(graph.n_states) if kind == "value" else np.flatnonzero(choice)
    turn = None if kind == "value" else turn_field(solution, states)
    layout = view(solution, states, answer[states], Choices(**choices), turn=turn)
    assert len(maps) == len(layout.panels)
    for number, panel in enumerate(layout.panels):
        fields = graph.states[panel.states][:, list(layout.axes)]
        by_place = dict(zip(map(tuple, fields.tolist()), panel.states.tolist(), strict=True))
        drawn = list(cells(figure, number))
        assert len(drawn) == len(by_place) == len(panel.states)
        for x, y, shown, text in drawn:
            yield by_place[x, y], shown, text


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_policy_shows_the_best_actions(game):
    solution = solved(game)
    graph = solution.graph
    figure = plot(solution, "policy")
    names = [trace.name for trace in figure.data if trace.type == "scatter" and trace.name]
    if figure.data[0].type == "scatter":
        for trace in figure.data:
            assert len(trace.x) == len(trace.y)
        return
    ties = np.add.reduceat(solution.is_best.astype(int), graph.action_indptr[:-1]) > 1
    choice = np.flatnonzero(np.diff(graph.action_indptr) > 1)
    classes = np.zeros(graph.n_states)
    classes[choice] = best_classes(solution, choice).classes
    for s, shown, text in panels(solution, figure, "policy", classes):
        best = graph.view.action(solution.best_actions[s]).name
        tied = [a.name for a in graph.view[s].actions if solution.is_best[a]]
        assert names[int(shown)] == (" or ".join(tied) if ties[s] else best)
        assert f"<b>{best}: " in text


@pytest.mark.parametrize("game", GAMES[:5], ids=lambda game: game.name)
def test_value_shows_the_values(game):
    solution = solved(game)
    figure = plot(solution, "value")
    shown = solution.values if solution.is_score else 100 * solution.win_probabilities
    for s, drawn, _ in panels(solution, figure, "value", solution.values):
        assert drawn == pytest.approx(shown[s], abs=1e-4)


def test_a_method_without_errors_has_no_picture_of_them():
    with pytest.raises(UsageError, match="would be empty"):
        plot(solved(SuperSix(sticks=7)), "error", methods=("strategy-iteration",))


@pytest.mark.parametrize("kind", ["policy", "value", "regret"])
def test_a_set_is_drawn_as_boards_and_never_as_its_number(kind):
    """Twelve boards, the opening among them, with the tiles in words; x can't be the set."""
    solution = solved(ShutTheBox(tiles=6))
    figure = plot(solution, kind)
    assert not figure.data
    drawn = [
        base64.b64decode(image.source.partition(",")[2]).decode() for image in figure.layout.images
    ]
    assert len(drawn) == 12
    assert any(
        "open: 1 2 3 4 5 6; 2 dice" in re.sub("</text><text[^>]*>", " ", one) for one in drawn
    )
    assert all(len(re.findall('stroke-width="3"', one)) in (0, 1, 2, 3) for one in drawn)
    assert "126" not in figure.layout.meta["alt"]  # the set of all tiles
    with pytest.raises(UsageError, match="sets"):
        plot(solution, kind, x="open", y="throw")


class Ring(NamedTuple):
    mine: int
    theirs: int


class RingRace(Game):
    """Run round a ring of six squares. Each player counts from the own side, half a ring away."""

    def start(self):
        return Ring(0, 0)

    def actions(self, s):
        return (1, 2)

    def outcomes(self, s, steps):
        yield 1, WIN if s.mine + steps > 5 else PASS, Ring(s.theirs, s.mine + steps)

    def cells(self, s):
        return [[boards.square(int(s.mine == k), int((s.theirs + 3) % 6 == k)) for k in range(6)]]


def test_the_best_move_is_framed_on_a_ring_that_each_player_sees_from_the_own_side():
    solution = solved(RingRace())
    cards = Cards(solution)
    for state in range(solution.graph.n_states):
        taken = solution.graph.view.action(solution.best_actions[state])
        if taken.outcome(0).is_over:
            continue
        framed = re.findall(r'<rect x="([^"]*)"[^>]*stroke-width="3"', cards.html(state, ""))
        here = taken.state.fields[0]
        assert framed == [f"{place * 29 - 1:.1f}" for place in (here, here + taken.label)]


@pytest.mark.parametrize("game", [MarkedBoard(), TurnedBoard()], ids=["in place", "turned"])
def test_the_frame_is_put_round_the_cell_of_the_best_move(game):
    """However the opponent sees the board, and though its empty rows are alike."""
    solution = solved(game)
    graph, cards = solution.graph, Cards(solution)
    n_frames = 0
    for s in range(graph.n_states):
        framed = re.findall(
            r'<rect x="([^"]*)" y="([^"]*)"[^>]*stroke-width="3"', cards.html(s, "")
        )
        best = graph.view.action(solution.best_actions[s])
        if not best.outcome(0).is_over:
            n_frames += 1
            assert framed == [(f"{best.label % 2 * 29 - 1:.1f}", f"{best.label // 2 * 29 - 1}")]
    assert n_frames > 50


def test_cells_where_an_action_is_never_best_are_hatched():
    """Super Six with ten sticks: with 9 in hand the lid never is so full that one stops."""
    solution = solved(SuperSix(sticks=10))
    graph = solution.graph
    figure = plot(solution, "limit")
    bar = next(trace for trace in figure.data if trace.type == "bar")
    drawn = {(x, int(base + 0.5)) for x, base in zip(bar.x, bar.base, strict=True)}
    label = graph.action_label[solution.best_actions]
    lid, mine, theirs, forced = graph.rows.T
    stops = (label == 1) & (forced == 0)
    all_of = {(m, t) for m, t in zip(mine[forced == 0], theirs[forced == 0], strict=True)}
    assert drawn == all_of - {(m, t) for m, t in zip(mine[stops], theirs[stops], strict=True)}
    limits = [z for _, _, z, _ in cells(figure, 0)]
    assert max(limits) <= lid.max()
    height = next(trace for trace in plot(solution, "surface").data if trace.type == "surface").z
    assert np.nanmax(height) <= lid.max()
    assert np.isnan(height).any()


class Sea(NamedTuple):
    wind: int
    row: int
    column: int
    lee: int


class Sails(Game):
    """Reef the sails if there is wind, except in the lee."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = ("sail", "reef")

    def start(self):
        return Sea(0, 0, 0, 0)

    def roots(self):
        return map(Sea._make, np.ndindex(3, 4, 4, 2))

    def actions(self, s):
        return (0, 1)

    def reward(self, s, action):
        return 2 * s.wind * (1 - s.lee) if action else 1

    def outcomes(self, s, action):
        yield 1, END, s


def test_hatched_cells_are_explained_where_the_first_panel_has_none():
    figure = plot(solve(Sails()), "limit", x="row", y="column")
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert [(trace.name, trace.showlegend, trace.xaxis) for trace in bars] == [
        ("never reef", True, "x2")
    ]
    assert len(bars[0].x) == 16


class MixingSix(SuperSix):
    """Its first policy is given by weights."""

    @rollwise.policy
    def a_stop_at_three_or_so(self, s):
        return {0: 1, 1: 3} if s.lid >= 3 and not s.forced else {0: 1}


def test_the_limit_of_a_policy_that_mixes_lies_where_it_mostly_acts():
    figure = plot(solved(MixingSix(sticks=10)), "surface")
    laid = next(trace for trace in figure.data if trace.name == "a-stop-at-three-or-so")
    heights = np.asarray(laid.z, float)
    assert np.nanmin(heights) == np.nanmax(heights) == 3


class Bids(NamedTuple):
    rivals: tuple[int, int]
    heat: int


class Ahead(Game):
    """The first rival is always ahead of the second."""

    players = 3

    def start(self):
        return Bids((2, 1), 0)

    def roots(self):
        return (Bids((a, b), h) for a in range(1, 4) for b in range(a) for h in range(6))

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        yield 1 + (s.heat if action else 2 + (s.rivals[0] > 2)), WIN, s
        yield 4, LOSE, s


def test_rivals_that_never_trade_places_are_no_picture():
    with pytest.raises(UsageError, match="draw `limit` instead"):
        rollwise.solve(Ahead()).plot("rivals")


def test_a_tree_repeats_the_first_example_of_threes():
    """Two dice show 1 and 6: take none for 6, one for 1 + 3, or two for 7 (the source's tree)."""
    solution = solved(Threes(dice=2))
    state = dict.fromkeys(solution.graph.field_names, 0) | {"ones": 1, "sixes": 1}
    figure = plot(solution, "graph", state=state)
    texts = [note.text for note in figure.layout.annotations]
    assert "take none: 0 + 6.00 = <b>6.00</b>" in texts
    assert "take 1: 1 + 3.00 = <b>4.00</b>" in texts
    assert "take 2: 7 + 0.00 = <b>7.00</b>" in texts
    with pytest.raises(UsageError, match="or 200 lines can't be read"):
        plot(solved(Hog(target=8, dice=3)), "graph")


def lines_of(figure):
    """The lines of a graph, as points."""
    for drawn in figure.data:
        if drawn.mode == "lines+markers":
            points = np.column_stack((drawn.x, drawn.y)).astype(float)
            for line in np.split(points, np.flatnonzero(np.isnan(points[:, 0])) + 1)[:-1]:
                yield line[:-1].round(6)


@pytest.mark.parametrize("game", [Piglet(target=2), Piglet(target=3), FrozenLake(), Craps()])
def test_a_graph_draws_every_move_that_does_not_end_the_game(game):
    """Moves that stay are loops, and no line hides another."""
    solution = solved(game)
    moves = [
        (state.index, target)
        for state in solution.graph.view
        for action in state.actions
        for target in {outcome.target for outcome in action.outcomes if not outcome.is_over}
    ]
    figure = plot(solution, "graph")
    lines = [*lines_of(figure)]
    assert len(lines) == len(moves)
    loops = sum(np.array_equal(line[0], line[-1]) for line in lines)
    assert loops == sum(start == target for start, target in moves) > 0
    assert "Loops" in figure.layout.meta["alt"]
    # lines between the same positions are apart
    assert len({tuple(line[len(line) // 2]) for line in lines}) == len(lines)


@pytest.mark.parametrize("game", [Piglet(target=2), Piglet(target=3)])
def test_ends_and_chances_of_the_lines_of_a_graph_are_uncovered(game):
    """Lines end at marks, labels are beneath these, and chances between the labels."""
    figure = plot(solved(game), "graph")
    lines = [*lines_of(figure)]
    marks = next(trace for trace in figure.data if trace.mode == "markers")
    places = set(zip(marks.x, np.round(marks.y, 6), strict=True))
    assert {tuple(line[at]) for line in lines for at in (0, -1)} <= places
    notes = [note for note in figure.layout.annotations if note.xref != "paper"]
    labels = [note for note in notes if (note.x, round(note.y, 6)) in places]
    assert len(labels) == len(places)
    assert all(note.yanchor == "top" and note.yshift < 0 for note in labels)
    chances = {(note.x, round(note.y, 6)) for note in notes if note.text.endswith("%")}
    assert len(chances) == sum(note.text.endswith("%") for note in notes)
    loops = {round(float(line[:, 1].min()), 3) for line in lines if (line[0] == line[-1]).all()}
    for x, y in chances:
        assert abs(x - round(x)) > 0.3 or min(abs(y - top) for top in loops) < 0.1


def test_chances_of_two_actions_stand_beside_each_other():
    """In hog each number of dice may lead from 2·3 to 3·2, in the same column."""
    figure = plot(solved(Hog(target=4, dice=2)), "graph")
    left, right = figure.layout.xaxis.range
    rows = {}
    for note in figure.layout.annotations:
        if note.text.endswith("%"):
            rows.setdefault(round(note.y, 3), []).append(note.x * 1100 / (right - left))
    assert min(np.diff(sorted(row)).min() for row in rows.values() if len(row) > 1) > 30


@pytest.mark.parametrize("kind", ["policy", "boxes", "regret"])
def test_a_picture_of_decisions_says_that_it_has_no_other_positions(kind):
    """In Piglet nothing else can be done at the beginning of a turn."""
    told = "Positions without a choice are left out."
    assert told in plot(solved(Piglet(target=3)), kind).layout.meta["alt"]
    assert told not in plot(solved(HareAndTortoise(steps=4)), kind).layout.meta["alt"]


def unpacked(text, name):
    """What a page holds under a name."""
    data = re.search(rf'<script type="text/plain" id="{name}">([A-Za-z0-9+/=]+)</script>', text)
    return gzip.decompress(base64.b64decode(data[1])).decode()


def test_names_can_not_break_the_page():
    figure = plot(solved(Piglet(target=3)), "value")
    figure.layout.annotations[0].text = "</script><b>"
    text = page(figure, "</title><script>")
    assert "</title><script>" not in text
    assert "</script><b>" not in text
    drawn = json.loads(unpacked(text, "figure-data"))
    assert drawn["layout"]["annotations"][0]["text"] == "</script><b>"


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("policy", {}),
        ("boxes", {}),
        ("policy", {"where": "keys == 1"}),
        ("graph", {}),
        ("graph", {"state": (1, 0)}),
    ],
)
def test_pictures_name_actions_with_marks_as_they_are(kind, asked):
    """Plotly decodes ``&amp;`` and ``&lt;``, but leaves ``&quot;``."""
    figure = plot(solved(Search()), kind, **asked)
    figure.layout.meta = None  # plain text
    drawn = json.dumps(figure.to_plotly_json(), default=list)
    assert 'say \\"go\\" &amp; &lt;b&gt;' in drawn
    assert "&quot;" not in drawn
    assert "& <b>" not in drawn


def test_a_report_names_actions_with_marks_as_they_are():
    text = rollwise.solve(Search()).report().html
    assert "say &quot;go&quot; &amp; &lt;b&gt;" in text
    assert "&amp;quot;" not in text
    assert "&amp;lt;" not in text


def test_plot_writes_a_page(tmp_path):
    done = run("plot", str(EXAMPLE), "policy", "mark=9", "--out", "a.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "a.html").read_text()
    assert "rollwiseFigure(" in text
    assert 'src="' not in text.lower().split("<body>")[1]
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_a_method_of_one_step_has_points_beside_the_line_of_another():
    figure = plot(
        solved(Pig(target=15)), "convergence", methods=("value-iteration", "policy-iteration")
    )
    modes = {trace.name: trace.mode for trace in figure.data if len(trace.x) > 1 or trace.x[0]}
    assert modes["value-iteration: true error"] == "lines"
    assert modes["policy-iteration: true error"] == "lines+markers"
    texts = " ".join(str(note.text) for note in figure.layout.annotations)
    assert "Dotted lines or rings: the largest change" in re.sub(r"<br>|\s+", " ", texts)


@pytest.mark.parametrize(
    ("text", "method", "options", "limit"),
    [
        ("components", "value-iteration", {"order": "components"}, "max_sweeps"),
        ("value-iteration:sound", "value-iteration", {"sound": True}, "max_sweeps"),
        ("policy-iteration", "policy-iteration", {}, "max_rounds"),
        ("modified-policy-iteration", "modified-policy-iteration", {}, "max_sweeps"),
    ],
)
def test_convergence_is_the_methods_own_history(text, method, options, limit):
    from rollwise.methods import run_method

    solution = solved(SuperSix(sticks=7))
    figure = plot(solution, "convergence", methods=(text,))
    change, error = figure.data[:2]
    assert error.name == f"{text}: true error"
    for sweeps in (1, 3, 6):
        found = run_method(solution.graph, method, **{limit: sweeps}, **options)
        if found.sweeps < sweeps:
            break
        truth = np.max(np.abs(found.values - solution.values)) / 2
        assert change.y[sweeps - 1] == pytest.approx(found.history[-1] / 2)
        assert error.y[sweeps - 1] == pytest.approx(truth, abs=1e-15)
    assert np.nanmin(error.y) < 1e-13


def test_error_shows_how_far_a_method_is_off():
    solution = solved(SuperSix(sticks=7))
    rough = "value-iteration:epsilon=0.001"
    values = run_method(solution.graph, "value-iteration", epsilon=0.001).values
    figure = plot(solution, "error", methods=(rough,))
    truth, given = (1 + solution.values) / 2, (1 + values) / 2
    error = np.abs(given - truth) / truth
    graph = solution.graph
    drawn = [
        cell for number in range(len(figure.data)) for cell in cells(figure, number)
        if figure.data[number].type == "heatmap"
    ]  # fmt: skip
    choice = np.diff(graph.action_indptr) > 1
    expected = np.log10(np.maximum(error[choice], 1e-10))
    assert sorted(z for _, _, z, _ in drawn) == pytest.approx(np.sort(expected), abs=0.01)


# ---- what a notebook shows


@pytest.mark.parametrize("cls", available().values(), ids=lambda cls: cls.name)
def test_games_show_themselves(cls):
    shown = cls()._repr_html_()
    assert cls.name in shown
    assert all(f"<td class='text'>{name}</td>" in shown for name in cls().parameters)


def test_advice_is_a_table_with_the_best_action_marked():
    shown = solve(Pig(target=10)).advise((0, 0, 3))._repr_html_()
    assert "<td class='text'>→</td><td class='text'>roll</td>" in shown
    assert "win probability" in shown
    scored = solve(Threes(dice=1)).advise((1, 0, 0, 0, 0, 0, 0, 0))._repr_html_()
    assert "expected score" in scored


def test_results_are_printed_in_the_words_of_the_command_line(tmp_path):
    pig, three, coin = Pig(target=10), Pig(target=5, players=3), Threes(dice=2)
    named, crowd, file = "hold-at-20", ("pig", "target=5", "players=3"), tmp_path / "pig.parquet"
    solve(pig).save(file)
    commands = {
        ("advise", "pig", "target=10"): solve(pig).advise((0, 0, 0)),
        ("evaluate", "pig", "target=10", "--policy", named): rollwise.evaluate(pig, named),
        ("evaluate", *crowd, "--policy", named): rollwise.evaluate(three, [named]),
        ("respond", "pig", "target=10", "--to", named): rollwise.best_response(pig, named),
        ("respond", *crowd, "--to", named): rollwise.best_responses(three, named),
        ("distribution", "threes", "dice=2"): rollwise.distribution(coin),
        ("verify", str(file)): rollwise.verify(file),
    }
    for command, result in commands.items():
        said = {" ".join(line.split()) for line in output(*command).splitlines()}
        lines = [" ".join(line.split()) for line in str(result).splitlines()]
        assert len(said.intersection(lines)) >= 2, command
        assert len(said.difference(lines)) <= 2, command
    assert "distribution: mean 10" in str(Distribution(np.arange(99), np.eye(99)[10], 0.0))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: rollwise.build(Pig(), max_states=100),
        lambda: solve(Pig(target=30)).plot("graph"),
        lambda: rollwise.Duel(Threes(), "no"),
        lambda: solve(Pig(target=5)).plot(where="turn > 90"),
        lambda: solve(Pig(target=5)).advise(3),
        lambda: export(solve(Pig(target=5)), Path("x.drn"), "drn"),
    ],
)
def test_errors_in_python_speak_of_arguments(wrong):
    with pytest.raises(rollwise.RollwiseError) as caught:
        wrong()
    assert "--" not in str(caught.value)


def test_a_graph_has_no_number_for_a_throw_that_is_still_to_come():
    solution = solved(TwoBoxes(2))
    figure = plot(solution, "graph")
    texts = [note.text for note in figure.layout.annotations]
    assert any("left 2" in text and "throw" not in text for text in texts)
    assert not any(str(NO_THROW) in text for text in texts)
    surface = plot(solved(Runners(2).cube(1)), "surface")
    assert "throw = no throw" in surface.layout.meta["alt"]
    with pytest.raises(UsageError) as refused:
        plot(solved(Runners(3)), "graph")
    assert str(NO_THROW) not in str(refused.value)


def test_a_picture_of_lengths_says_whether_ties_may_change_them():
    """A roll or a stop worth the same: another optimal policy plays longer."""
    tied = plot(solved(Shortest(top=4)), "turns")
    assert "Ties: in " in tied.layout.meta["alt"]
    assert "Ties" not in plot(solved(Pig(target=15)), "turns").layout.meta["alt"]


class Beaten(Faces):
    """Throws count by their square."""

    power: ClassVar = 2


def test_an_axis_of_few_numbers_shows_all_of_them():
    """Each of the throws to beat has a row in every map, and each map a whole title."""
    figure = plot(solve(Beaten()), "value", x="mine", y="beat")
    layout = figure.to_plotly_json()["layout"]
    axes = [layout[key] for key in layout if key.startswith("yaxis")]
    assert len(axes) > 2
    for axis in axes:
        assert axis["type"] == "category"
        assert list(axis["range"]) == [-0.5, len(axis["categoryarray"]) - 0.5]
    titles = [note["text"] for note in layout["annotations"] if " = " in note["text"]]
    assert len(set(titles)) == len(titles) == len(axes)
    assert not any("…" in title for title in titles)


class Lamp(IntEnum):
    """A zero with a name."""

    OUT = 0
    LIT = 1


class Lamps(NamedTuple):
    """Lamps with names of which few fit into a line."""

    north: int
    south: int
    east_room: Lamp
    west_room: Lamp
    above_door: Lamp
    cellar: int


class Lights(Game):
    """Light one lamp after the other."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Lamps(0, 0, Lamp.OUT, Lamp.OUT, Lamp.OUT, 0)

    def actions(self, s):
        return [k for k in range(6) if s[k] == 0]

    def reward(self, s, action):
        return action * sum(s)

    def outcomes(self, s, action):
        yield 1, AGAIN if sum(s) < 5 else END, Lamps(*s[:action], 1, *s[action + 1 :])


class Nameless(Faces):
    action_names: ClassVar = ()


def test_a_title_takes_an_action_without_a_name():
    assert "from which throw to stay" in plot(solve(Faces()), "limit").to_json()
    assert "from which throw to take action 0" in plot(solve(Nameless()), "limit").to_json()


def test_titles_of_many_fields_leave_out_zeros_without_a_name():
    figure = plot(solve(Lights()), "value", x="north", y="south")
    notes = [note["text"] for note in figure.to_plotly_json()["layout"]["annotations"]]
    titles = [text for text in notes if " = " in text]
    assert any("east_room = out" in title for title in titles)
    assert not any("cellar = 0" in title or ",," in title for title in titles)


def test_a_tuned_chance_is_drawn_in_percent_as_it_is_printed(tmp_path):
    printed = output("tune", "pig", "--vary", "target=4..5", "--out", "tune.html", cwd=tmp_path)
    assert "win probability (%)" in (page := (tmp_path / "tune.html").read_text())
    chance = float(re.search(r"\s4\s+(\d+\.\d+) %", printed)[1])
    assert f"{chance:.3g} at 4" in page


def test_a_picture_without_a_kind_is_of_the_policy(tmp_path):
    done = run("plot", "pig", "target=6", cwd=tmp_path)
    assert "wrote pig-policy.html" in done.stdout
    assert (tmp_path / "pig-policy.html").exists()


class Mexican(Beaten):
    """As `Beaten`, with two dice."""

    def throws(self, s):
        for first in range(1, 7):
            for second in range(1, 7):
                yield 1, (first, second)

    def actions(self, s, throw):
        return super().actions(s, max(throw))

    def outcomes(self, s, throw, action):
        return super().outcomes(s, max(throw), action)


def test_the_faces_of_dice_are_axes_if_asked_for():
    """Those of two dice are axes anyway, and those of more lie on boards."""
    solution = solve(Mexican())
    figure = plot(solution, "policy", x="throw.0", y="throw.1", where="beat == 0 and throws == 2")
    layout = figure.to_plotly_json()["layout"]
    assert list(layout["xaxis"]["range"]) == list(layout["yaxis"]["range"]) == [0.5, 6.5]
    alike = plot(solution, "policy", where="beat == 0 and throws == 2").to_plotly_json()["layout"]
    assert alike["xaxis"]["range"] == layout["xaxis"]["range"]
    assert "throw.1 (upwards) by throw.0 (across)" in alike["meta"]["alt"]


@pytest.mark.parametrize("method", ["value-iteration", "modified-policy-iteration"])
def test_a_method_is_traced_where_play_may_not_end(method):
    """Its values are those of all positions, with the worth of endless play."""
    result, errors = trace(solve(FrozenLake()), method)
    assert errors[-1] < 1e-3 < errors[0]
    assert len(result.values) == 11


class Hour(IntEnum):
    """Hours with names."""

    MIDNIGHT = 0
    LATE = 1
    EARLY = 2
    DAWN = 3


class Night(NamedTuple):
    """A state with a long name, and a field with names."""

    ships_still_to_be_guided_home: int
    oil: int
    hour: Hour


class Keeper(Game):
    """Guide ships home by a small or a tall flame, or with no light; ties are frequent."""

    players: ClassVar = 1
    action_names: ClassVar = ("no light", "small", "tall")

    def start(self):
        return Night(4, 6, Hour.MIDNIGHT)

    def actions(self, s):
        return range(min(s.oil, 2) + 1)

    def outcomes(self, s, action):
        good = (1, 2, 4)[action]
        for weight, ships in ((good, s[0] - 1), (7 - good, s[0])):
            if ships == 0 or s.hour == Hour.DAWN:
                yield weight, WIN if ships == 0 else LOSE, s
            else:
                yield weight, AGAIN, Night(ships, s.oil - action, s.hour + 1)


def test_equally_good_actions_have_colours_of_their_own():
    """Two and three actions, of which one is never the only best."""
    solution = solved(Keeper())
    best = best_classes(solution, np.flatnonzero(np.diff(solution.graph.action_indptr) > 1))
    assert {len(part) for part in best.parts} == {1, 2, 3}
    assert len(set(best.colours)) == len(best.parts)


def test_an_action_has_one_colour_in_all_pictures_of_a_game():
    """Also in a picture of positions where each other action is worse."""
    solution, colours = solved(Piglet(target=3)), {"flip": set(), "hold": set()}
    only_hold = "banked == 0 and rival == 0 and turn > 0"
    for kind, where in (("graph", None), ("policy", None), ("boxes", only_hold)):
        for drawn in plot(solution, kind, where=where).data:
            if drawn.name in colours:
                colours[drawn.name].add(drawn.marker.color or drawn.line.color)
    assert colours["hold"] != colours["flip"]
    assert [len(several) for several in colours.values()] == [1, 1]


def test_a_long_title_of_a_panel_keeps_its_number():
    figure = plot(solved(Keeper()), "policy", x="oil", y="hour")
    for layout in (figure.to_plotly_json()["layout"], figure.layout.meta["narrow"]):
        titles = [note["text"] for note in layout["annotations"] if "…" in note["text"]]
        assert [title[-4:] for title in titles] == [" = 1", " = 2", " = 3", " = 4"]


class Four(NamedTuple):
    left_lantern: int
    right_lantern: int
    largest_mirror: int
    smallest_mirror: int
    oil: int
    hour: int


class FourParts(Game):
    """Wait until the end, with parts that are broken or whole by chance."""

    players = 1

    def start(self):
        return Four(0, 0, 0, 0, 2, 2)

    def actions(self, s):
        return (0, 1) if s.oil else (0,)

    def outcomes(self, s, action):
        for parts in product((1, 2), repeat=4):
            then = AGAIN if s.hour else WIN if s.oil > sum(parts) - 6 else LOSE
            yield 1, then, Four(*parts, s.oil - action, s.hour - 1)


def test_the_title_of_a_panel_names_all_fields():
    layout = plot(solved(FourParts()), "policy", x="oil", y="hour").to_plotly_json()["layout"]
    titles = [note["text"] for note in layout["annotations"] if " = 1" in note["text"]]
    assert len(titles) == len(set(titles)) > 4
    assert all(f"{name} = " in title for title in titles for name in Four._fields[:4])


class Wordy(Keeper):
    action_names: ClassVar = (
        "put out the light and wait in the dark",
        "light a small flame in the smaller lantern",
        "light a tall flame with both mirrors turned",
    )


def test_long_names_in_a_legend_are_broken_for_a_narrow_screen():
    figure = plot(solved(Wordy()), "policy")
    names = [trace.name for trace in figure.data if trace.type == "scatter" and trace.name]
    assert max(len(line) for name in names for line in name.split("<br>")) <= 38
    assert "tall flame with both mirrors turned" in figure.layout.meta["alt"]


def test_the_wide_layout_has_room_for_the_legend_of_its_least_width():
    """There five entries as long as these stand in three lines of two columns."""
    wide = plot(solved(Threes(dice=3)), "scores").layout.meta["wide"]
    lines = 1 + wide["annotations"][0]["text"].count("<br>")  # of the title and the notes
    assert wide["margin"]["t"] >= 24 + 22 * lines + 3 * 20


def test_limits_and_surface_agree_and_have_names():
    """An action that is as good as another one counts as best in both."""
    solution = solved(Keeper())
    figure = plot(solution, "surface")
    surface = next(trace for trace in figure.data if trace.type == "surface")
    x, y, z = (np.asarray(part, float) for part in (surface.x, surface.y, surface.z))
    at = np.argwhere(np.isfinite(z[::2, ::2])) * 2
    heights = {(round(x[k] + 0.499), round(y[i] + 0.499)): z[i, k] for i, k in at}
    limits = {(x, y): z for x, y, z, _ in cells(plot(solution, "limit"), 0)}
    assert heights == limits
    assert figure.layout.scene.yaxis.ticktext == ("midnight", "late", "early", "dawn")
    hours = plot(solution, "limit", x="oil", y="ships_still_to_be_guided_home")
    assert "late" in hours.layout.coloraxis.colorbar.ticktext


def test_a_picture_of_scores_tells_of_simulated_games_only_where_it_has_some():
    assert "Simulated" not in plot(solved(Keeper()), "scores").layout.meta["alt"]
    assert "Simulated" in plot(solved(Threes(dice=3)), "scores").layout.meta["alt"]


def test_empty_cells_of_limits_are_columns_without_a_position():
    """A cell stands for all positions with other numbers in the field of the limit."""
    alt = plot(solved(Threes(dice=3)), "limit").layout.meta["alt"]
    assert "Empty cells: no play comes to the position." in alt


class Far(NamedTuple):
    place: int
    moved: int


class Leap(Game):
    """Leap once, 150 steps back to 45 steps forward, and stop."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Far(0, 0)

    def actions(self, s):
        return (0, 1)

    def reward(self, s, action):
        return s.place * action

    def outcomes(self, s, action):
        if s.moved:
            yield 1, END, s
        for place in range(-150, -150 if s.moved else 46):
            yield 1, AGAIN, Far(place, 1)


def test_long_numbers_of_an_axis_have_room():
    layout = plot(solve(Leap()), "value").layout
    across = layout.xaxis.range[1] - layout.xaxis.range[0]
    assert layout.xaxis.dtick / across * 1012 > len("-150") * 6.6 + 4


def test_curves_of_a_graph_stay_inside_and_thrown_dice_are_told():
    figure = plot(solved(Ladder(top=8)), "graph")
    for layout in (figure.layout.meta["wide"], figure.layout.meta["narrow"]):
        low, high = layout["yaxis"]["range"]
        ys = [y for trace in figure.data for y in trace.y if y is not None]
        assert high < min(ys) <= max(ys) < low
    box = plot(solve(TwoBoxes()), "graph", state=((1, 1), 2)).layout.meta["alt"]
    assert "thrown: " in box
    assert "throw 1 1" not in box


def test_zeros_that_titles_of_maps_omit_are_told():
    for game, told in ((Threes(dice=2), True), (SuperSix(sticks=4), False)):
        alt = plot(solved(game), "value").layout.meta["alt"]
        assert ("Fields that the title of a map doesn't name are 0." in alt) == told
