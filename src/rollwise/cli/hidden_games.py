"""Commands for games with hidden dice or simultaneous choices, as other commands call them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import typer

from rollwise.boards import swapped, text_board
from rollwise.cli.common import refuse
from rollwise.cli.printing import SHOWN, end_if, place_line, render, show_table, tell_rows
from rollwise.cli.progress import Progress, working
from rollwise.cli.streams import ASKED
from rollwise.documents.hidden import (
    PLAYERS,
    HiddenAdvised,
    HiddenEvaluated,
    HiddenLearned,
    HiddenMatch,
    HiddenPlayed,
    HiddenResponse,
    actions_table,
    answer_blocks,
    cost_text,
    exploitability_of,
    kind_of,
    rows_of,
    situation_row,
    solved_document,
    table_of,
    unit_facts,
    unit_of,
)
from rollwise.errors import RulesError, UsageError
from rollwise.game import Game
from rollwise.graph.layout import members_of
from rollwise.graph.naming import Vocabulary, free_name, state_text
from rollwise.graph.typed import typed_state
from rollwise.hidden import Answer, Situation
from rollwise.hidden import solve as solve_game
from rollwise.hidden.learning import Walk, drawn
from rollwise.hidden.reading import read
from rollwise.machine.atomic_files import check_place, write_text
from rollwise.numbers.given import positive_number
from rollwise.numbers.printed import how_many
from rollwise.numbers.randomness import seed_of

BECAUSE = "isn't for games with hidden dice or simultaneous choices, such as {}"
GAMES, MOST_ROWS = 10_000, 200_000
DOUBTFUL = 1e-4  # cost of a choice on which the coach remarks, as a part of the stake


def refuse_options(game: Game, **given: Any) -> None:
    """Refuse options that such games don't have."""
    refuse(BECAUSE.format(game.name), **given)


def find_answer(game: Game, tolerance: float | None = None, *, saved: str | None = None) -> Answer:
    """The solution of the game: of a file, kept from an earlier run, or computed now."""
    if saved is not None:
        from rollwise.hidden.files import load

        with working("reading the answer"):
            return load(Path(saved), game, ASKED.max_states)
    with Progress() as progress:
        if tolerance is None:
            from rollwise.hidden.files import kept_or_solved

            return kept_or_solved(game, max_states=ASKED.max_states, progress=progress.listener)
        return solve_game(
            game, tolerance=tolerance, max_states=ASKED.max_states, progress=progress.listener
        )


def solve(game: Game, tolerance: float | None, save: Path | None = None) -> None:
    """``rollwise solve``."""
    check_place(save)
    if tolerance is not None:
        positive_number("tolerance", tolerance)
    answer = find_answer(game, tolerance)
    if save is not None:
        from rollwise.hidden.files import save as write

        write(answer, save)
    render(solved_document(answer))
    failed = tolerance is not None and answer.error_bound > tolerance
    end_if(failed, f"the error bound is {answer.error_bound:.1e}, above --tolerance")


def _frame(answer: Answer, situations: list[Situation]) -> pl.DataFrame:
    """Situations as a table with a column for each field and each action."""
    names = PLAYERS[not answer.positions.is_hidden]
    fields = [n for n in answer.positions.states[0]._fields if any(n in s.sees for s in situations)]
    actions = list(dict.fromkeys(name for s in situations for name in s.names))
    often = "visits" if answer.positions.may_return else "reach"
    began, player, before, reach = (
        free_name(name, fields) for name in ("round", "player", "before", often)
    )
    rows = []
    for one in situations:
        about = answer.positions.about_rounds[one.round]
        row: dict[str, Any] = {began: state_text(about)} if about else {}
        row[player] = names[one.seat]
        for name in fields:
            x = one.sees.get(name)
            row[name] = " ".join(map(str, x)) if isinstance(x, tuple) else x
        row |= {before: one.before, reach: None if np.isnan(one.reach) else one.reach}
        shares = dict(zip(one.names, map(float, one.probabilities), strict=True))
        rows.append(row | {f"plays {name}": shares.get(name) for name in actions})
    return pl.DataFrame(rows, infer_schema_length=None)


def table(
    game: Game, where: str | None, limit: int | None, form: str | None, out: Path | None,
    load: str | None,
) -> None:  # fmt: skip
    """``rollwise table``."""
    from rollwise.answer.filters import numbered, rows_where

    answer = find_answer(game, saved=load)
    if answer.n_situations > MOST_ROWS:
        raise UsageError(
            f"{answer.positions.title} has {answer.n_situations:,} situations, too many for a "
            "table; `rollwise advise` shows those in which a player sees a --state"
        )
    with working("listing situations"):
        situations = list(answer.situations())
        if where is not None:
            where = numbered(where, members_of(game))
            kept = np.flatnonzero(rows_where(_frame(answer, situations), where))
            situations = [situations[k] for k in kept.tolist()]
    shown = situations[: SHOWN if limit is None and form is None else limit]
    if form is None:
        with working("ranges of optimal probabilities"):
            document = table_of(answer, len(situations), shown)
        return render(document)
    from rollwise.documents.model import encode

    tell_rows(
        _frame(answer, shown),
        form,
        out,
        lambda _: encode(table_of(answer, len(situations), shown)),
    )


def advise(game: Game, state: str | None, load: str | None) -> None:
    """``rollwise advise``; without a state the first situations."""

    def example() -> str:
        return f"as in {read(game, ASKED.max_states).example}"

    sees = {} if state is None else typed_state(state, example, members_of(game))
    answer = find_answer(game, saved=load)
    with working("the situations of the state"):
        found = answer.find(sees)
        document = HiddenAdvised.on(
            game,
            kind=kind_of(answer),
            unit=unit_of(answer),
            exploitability=exploitability_of(answer),
            stake=answer.positions.stake,
            total=len(found),
            situations=rows_of(answer, found[:10]),
        )
    render(document)


def evaluate(game: Game, policy: str, against: str | None) -> None:
    """``rollwise evaluate``."""
    answer = find_answer(game)
    with working("evaluating policies"):
        value, bound = answer.evaluate((policy, against or policy))
        (first, one), (second, other) = (answer.best_response(policy, s) for s in (0, 1))
        ends = answer.payoff_range((policy, against or policy))
    render(
        HiddenEvaluated.on(
            game,
            kind="certified",
            **unit_facts(answer),
            value=value,
            error_bound=bound,
            policy=policy,
            against=against or policy,
            **({"lowest": ends[0], "highest": ends[1]} if ends else {}),
            loss=max((first + second) / 2, 0.0),
            loss_bound=max(one, other),
        )
    )


def respond(game: Game, policy: str) -> None:
    """``rollwise respond``."""
    answer = find_answer(game)
    with working("best responses"):
        (first, one), (second, other) = (answer.best_response(policy, seat) for seat in (0, 1))
    render(
        HiddenResponse.on(
            game,
            kind="certified",
            unit=unit_of(answer),
            policy=policy,
            first=first,
            second=second,
            exploitability=(first + second) / 2,
            error_bound=max(one, other),
        )
    )


def simulate(
    game: Game, policy: str, against: str | None, games: int | None, seed: int | None,
    load: str | None,
) -> None:  # fmt: skip
    """``rollwise simulate``."""
    from rollwise.hidden.learning import simulate as play_games

    answer = find_answer(game, saved=load)
    names = (policy, against or policy)
    seed = seed_of(seed)
    games = GAMES if games is None else games
    with working("playing games"):
        expected, bound = answer.evaluate(names)
        mean, error, endless = play_games(answer.with_policies(names), games, seed)
    if error == 0:  # wins or losses alone have an error then, as if one game had differed
        error = 2 / games if unit_of(answer) == "win probability" else np.nan
    render(
        HiddenMatch.on(
            game,
            kind="estimated",
            **unit_facts(answer),
            value=mean,
            standard_error=error if np.isfinite(error) else None,
            error_bound=bound,
            policy=policy,
            against=names[1],
            games=games,
            seed=seed,
            expected=expected,
            endless=endless or None,
        )
    )


def learn(game: Game, games: int, seed: int | None, compare: int | None, save: Path | None) -> None:
    """``rollwise learn``."""
    from rollwise.hidden.files import save as write
    from rollwise.hidden.learning import learn as learn_game

    seed = seed_of(seed)
    with Progress() as progress:
        answer, curve = learn_game(
            game, games, seed, points=compare or 10, max_states=ASKED.max_states,
            progress=progress.listener,
        )  # fmt: skip
    if save is not None:
        write(answer, save)
    document = HiddenLearned.on(
        game, kind="certified", method=answer.method, games=games, seed=seed, checkpoints=curve
    )
    render(document, *place_line("Saved to", save))


def verify(place: Path, game: Game | None, exact: bool) -> None:
    """``rollwise verify``."""
    from rollwise.documents.hidden import checked_document
    from rollwise.hidden.files import verify as verify_file

    with working("verifying"):
        checked = verify_file(place, game, exact=exact, max_states=ASKED.max_states)
    if ASKED.json or checked.verified:
        render(checked_document(checked))
    end_if(not checked.verified, f"{place} is refused: {checked.fault}")


def check(game: Game) -> None:
    """``rollwise check``: read and unfold the rules, which finds leaks and endless play."""
    from rollwise.analysis.check_positions import look_at_positions
    from rollwise.analysis.findings import Report, look_at_names
    from rollwise.documents.games import Checked
    from rollwise.hidden.check import endless_positions, may_go_on
    from rollwise.hidden.tree import unfold

    with Progress() as progress:
        progress("reading the rules", 0, None)
        found, error, endless, positions = "", None, "", None
        try:
            positions = read(game, ASKED.max_states, progress.listener)
            found = how_many(len(positions.states), "position")
            goes_on = may_go_on(positions)
            if positions.is_hidden:
                trees = [unfold(one.positions, limit=ASKED.max_states) for one in positions.rounds]
                n = sum(len(seat.parents) for tree in trees for seat in tree.seats)
                if len(trees) > 1:
                    found += f", {how_many(len(trees), 'round')}"
                found += f", {how_many(n, 'situation')}; the actions tell no hidden field"
            if goes_on:
                lasting = endless_positions(positions)
                endless = (
                    "the players can go on for ever from "
                    f"{how_many(int(lasting.sum()), 'position')}, such as "
                    f"{positions.text(int(lasting.argmax()))}. The rules say that endless play is "
                    "a draw"
                )
            else:
                found += "; every play ends"
        except RulesError as fault:
            error = str(fault)
        report = Report(game.name)
        report.add("error" if error else "ok", "rules", error or found)
        if endless and not error:
            report.add("ok", "endless play", endless)
        look_at_names(report, game)
        if positions is not None:
            look_at_positions(report, positions)
            for name in type(game).policies() if not error else ():
                wrong = positions.policy_fault(name)
                text = wrong or f"{name} has an action for every state"
                report.add("error" if wrong else "ok", "policies", text)
    render(Checked.from_result(report))
    end_if(not report.passed, "the rules have an error")


def export(game: Game, out: Path | None) -> None:
    """``rollwise export --to efg``."""
    from rollwise.cli import streams
    from rollwise.documents.games import Exported
    from rollwise.export.efg import efg

    if not game.is_hidden:
        raise UsageError(
            f"--to efg is for games with hidden dice or simultaneous choices, not {game.name}"
        )
    if out is None and ASKED.json:
        raise UsageError("--to efg needs --out FILE with --json")
    check_place(out)
    with working("reading the rules"):
        positions = read(game, ASKED.max_states)
        text = efg(positions)
    if out is None:
        streams.write(text)
        return
    write_text(out, text)
    sizes = {"states": len(positions.states), "actions": len(positions.rewards)}
    sizes["outcomes"] = len(positions.weights)
    render(Exported.on(game, format="efg", file=str(out), **sizes))


def write_page(game: Game, place: Path, load: str | None, plays: bool) -> None:
    """``rollwise page``, and ``rollwise report`` with the strategies alone."""
    from rollwise.documents.games import PageWritten, Reported
    from rollwise.page.hidden import page_of, read_for_page, report_of

    if plays:
        with working("reading the rules"):
            read_for_page(game, ASKED.max_states)  # solving may take much longer
    answer = find_answer(game, saved=load)
    with working("writing the page"):
        blocks = answer_blocks(answer)
        write_text(place, page_of(answer, blocks) if plays else report_of(answer, blocks))
    render((PageWritten if plays else Reported).at(game, place))


# ---- play: the coach knows what the player sees, and no more


def play(
    game: Game, against: str, seat: str | None, coach: str, seed: int | None, load: str | None
) -> None:
    """Play one game against a policy, and print its result."""
    if against == "human":
        raise UsageError(f"{game.name}: two people at one screen would see each other's dice")
    mine, answer = int(seat == "second"), find_answer(game, saved=load)
    opponent = answer.with_policies((against, against)) if against != "optimal" else answer
    seed = seed_of(seed)
    walk = Walk(answer, np.random.default_rng(seed), unending=opponent.unending(mine))
    lost, last = 0.0, ""
    unseen: list[str] = []  # a choice may be hidden until the end of the round
    _say(f"{answer.positions.title}  (seed {seed})")
    while not walk.is_over:
        indices, shown = list[int](), list[str]()
        last = answer.positions.text(walk.position)
        for player, side in walk.choosers():
            if player == mine:
                situation = walk.situation(player, side)
                index = _ask(answer, situation, coach)
                if index is None:
                    _end(answer, against, seat, None, lost, seed)
                    return
                lost += _judged(situation, index, coach, answer.positions.stake)
            else:
                memory = walk.memories[player]
                situation = opponent.at(memory, player, side, walk.position)
                index = drawn(situation, walk.random)
            indices.append(index)
            shown.append(f"{'you' if player == mine else against}: {situation.names[index]}")
        if len(shown) > 1:
            _say("; ".join(shown))
        else:
            unseen += shown
        rounds = walk.rounds
        walk.act(indices)
        if unseen and (walk.is_over or walk.rounds > rounds):  # nothing earlier matters
            _say(f"the choices were {'; '.join(unseen)}")
            unseen = []
    if walk.is_endless:
        _say("play can't end any more: endless play is a draw")
    _say(f"the last position, of its mover: {last}")
    _end(answer, against, seat, walk.payoff * (1 - 2 * mine), lost, seed)


def _end(
    answer: Answer, against: str, seat: str | None, payoff: float | None, lost: float, seed: int
) -> None:
    """Print the result; a payoff of None for a game that was left."""
    facts = {"payoff": payoff, "lost": lost if np.isfinite(lost) else None, "seed": seed}
    facts["stake"] = answer.positions.stake
    render(HiddenPlayed.on(answer.game, against=against, seat=seat or "first", **facts))


def _say(text: str) -> None:
    typer.echo(text, err=ASKED.json)


def _ask(answer: Answer, situation: Situation, coach: str) -> int | None:
    """The index of the action that a person types; None at the end of the input."""
    other = situation.seat == 1 and not answer.positions.is_hidden
    _say(f"\n{'you are the other player; the mover sees' if other else 'you see'} {situation.text}")
    if board := answer.positions.cells(situation.position):
        _say(text_board(swapped(board) if other else board))
    words = answer.game.describe(answer.positions.states[situation.position])
    if type(answer.game).describe is not Game.describe:
        _say(f"  {words}")
    if coach == "always":
        _hint(answer, situation)
    labels = range(len(situation.names))
    menu = Vocabulary(labels, dict(enumerate(situation.names)))
    marks = [f"{n + 1} " if menu.menus_are_numbered else "" for n in labels]
    named = ", ".join(map("{}{}".format, marks, situation.names))
    while True:
        _say(f"{named} (hint: the coach, help: the rules, q: leave)")
        try:
            text = input("> " if not ASKED.json else "").strip()
        except EOFError:
            return None
        if text in ("q", "quit"):
            return None
        if text == "hint" and coach != "off":
            _hint(answer, situation)
        elif text in ("help", "?"):
            _say(answer.game.description)
        else:
            try:
                return menu.find_typed(labels, text, in_menu=True)
            except UsageError as error:
                _say(str(error))


def _hint(answer: Answer, situation: Situation) -> None:
    """Show the probabilities of the optimal strategy."""
    if not ASKED.json:
        actions = situation_row(answer, situation).actions
        show_table(actions_table(actions, answer.positions.stake))


def _judged(situation: Situation, index: int, coach: str, stake: float) -> float:
    """The cost of an action against the optimal opponent, and the coach's remark."""
    values = np.array(situation.values)
    cost = float(np.nanmax(values) - values[index]) if np.isfinite(values).any() else 0.0
    if coach in ("always", "mistakes") and cost > DOUBTFUL * stake:
        _say(f"  that costs {cost_text(cost, stake)} against the optimal strategy")
    return cost
