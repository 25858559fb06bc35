"""A process that solves one game, then answers questions about it, a line of JSON each.

Its first line of input names the game. It ends at the end of its input, even while it solves.
"""

from __future__ import annotations

import json
import os
import queue
import re
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.documents.model import encode, html_of
from rollwise.errors import RollwiseError, UnknownState, UsageError, words_of_the_command_line
from rollwise.faults import fault_text

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution
    from rollwise.documents.answers import Advised
    from rollwise.documents.solved import Solved
    from rollwise.game import Game
    from rollwise.hidden import Answer

MOST_ROWS = 1000  # of a table, in one answer
MOST_BOARDS = 2000  # in one answer
SAMPLE = 20_000  # positions with the numbers of fields
PACKED_AT_ONCE = 1_000_000  # outcomes of a game with a page made within two seconds
# the kinds of pictures with links; others need a method
PLOTTED = (
    "policy", "value", "regret", "limit", "surface", "boxes", "rivals", "turns", "scores", "graph"
)  # fmt: skip


def main() -> None:
    """Serve the process that started this one."""
    sent = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # prints of the rules go to standard error

    def say(**what: Any) -> None:
        sent.write(encode(what) + "\n")
        sent.flush()

    asked: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    with words_of_the_command_line():
        told = asked.get()
        answer = _tried(say, lambda: _begin(told, say))
        while answer is not None:
            question = asked.get()
            _tried(say, lambda question=question: say(body=reply(answer, question)))


def _listen(asked: queue.Queue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        asked.put(json.loads(line))
    os._exit(0)


def _tried(say: Any, do: Any) -> Any:
    """The result, or None after a failure, reported in the words of the command line."""
    try:
        return do()
    except RollwiseError as error:
        say(error=" ".join(str(error).split())[:800])
    except MemoryError:
        say(error="out of memory; smaller parameters help")
    except BaseException as error:
        whose = "" if isinstance(error, OSError) else "an error of rollwise: "
        say(error=whose + fault_text(error), traceback=traceback.format_exc())
    return None


def _begin(told: Mapping[str, Any], say: Any) -> Solution | Answer:
    from rollwise.games import create, find

    _limit(told["memory"] + _mapped_bytes(told["saved"]))

    def progress(stage: str, done: int, total: int | None) -> None:
        say(stage=stage, done=int(done), total=None if total is None else int(total))

    game = create(find(told["game"]), told["parameters"])
    if game.is_hidden:
        return _begin_hidden(game, say, progress)
    from rollwise.answer import kept
    from rollwise.documents.solved import solved_document

    answer = kept.answer(game, told["saved"], progress=progress)
    document = solved_document(answer)
    if answer.is_small:
        answer = answer.whole()
    else:
        progress("preparing advice", 0, None)
        _warm_up(answer)
    say(solved=document)
    return answer


def _begin_hidden(game: Game, say: Any, progress: Callable[[str, int, int | None], None]) -> Answer:
    """Solve a game with hidden dice or simultaneous choices."""
    from rollwise.documents.hidden import solved_document
    from rollwise.hidden.files import kept_or_solved

    answer = kept_or_solved(game, progress=progress)
    say(solved=solved_document(answer))
    return answer


def _warm_up(answer: Solution) -> None:
    """Compile the kernels of a turn, needed by every question about a position."""
    from rollwise.kernels.jit import compile_all

    compile_all()
    answer.near(np.array([answer.start]))


def _mapped_bytes(saved: str | None) -> int:
    """The size of mapped files: their addresses count for the limit, their pages don't."""
    if saved is None or not Path(saved).is_dir():
        return 0
    return sum(path.stat().st_size for path in Path(saved).iterdir())


def _limit(most_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # on Windows, where there are no such limits
        return
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))


def reply(answer: Solution | Answer, question: Mapping[str, Any]) -> str:
    """The document or page for a question.

    Raises
    ------
    RollwiseError
        As the command of that name does.
    """
    if answer.game is None or not answer.game.is_hidden:
        return REPLIES[question["ask"]](answer, question)
    if question["ask"] not in HIDDEN_REPLIES:
        raise UsageError(
            f"{answer.game.name} has hidden dice or simultaneous choices: a server has /page, "
            "/report and /answer of it; `rollwise advise` and `rollwise table` have its advice"
        )
    return HIDDEN_REPLIES[question["ask"]](answer)


def _solved(answer: Any, question: Mapping[str, Any]) -> Solved:
    from rollwise.documents.solved import solved_document

    return solved_document(answer)


def _advised(answer: Any, question: Mapping[str, Any]) -> Advised:
    from rollwise.answer.advice import advise
    from rollwise.documents.answers import advice_document

    part, state = _found(answer, question)
    return advice_document(part, advise(part, state))


def _position(answer: Any, question: Mapping[str, Any]) -> str:
    from rollwise.documents.served import outcomes_document, position_document
    from rollwise.words import Narrator

    part, state = _found(answer, question)
    narrator = Narrator(part.graph, part.game)
    if question["action"] is None:
        return encode(position_document(part, narrator, state))
    try:
        action = part.graph.view[state].find_action(question["action"])
    except UsageError as error:
        place = f"{part.title}, in the state {part.graph.state_text(state)}"
        raise UsageError(f"{place}: {error}") from None
    return encode(outcomes_document(part, narrator, action.index))


def _boards(answer: Any, question: Mapping[str, Any]) -> str:
    """The boards of those rows of fields that are positions."""
    from rollwise.documents.served import boards_document

    rows = np.array(question["rows"][:MOST_BOARDS], np.int32)
    fields = list(_sample(answer))
    if rows.shape[1:] != (len(fields),):
        raise UsageError(f"each row has {len(fields)} whole numbers: {', '.join(fields)}")
    return encode(boards_document(answer.game, rows[answer.places_of(rows) >= 0]))


def _found(answer: Solution, question: Mapping[str, Any]) -> tuple[Solution, int]:
    """The answer in the turn of a position, and the index of a state of that turn."""
    state = _state(answer, question["state"])
    return answer.locate(state, question["throw"], question["rolls_left"])


def _state(answer: Any, text: str | None) -> dict[str, Any]:
    """A state as typed in an address."""
    from rollwise.graph.layout import members_of
    from rollwise.graph.typed import typed_state

    example = f"state={_start(answer)}"
    if not text:
        raise UnknownState(f"{answer.title}: which position? Write {example}")
    try:
        # `state=` is a part of an address, and may stand before the fields in a form
        text = re.sub(r"^\s*state=(?=[^,]*=)", "", text)
        return typed_state(text, lambda: f"as in {example}", members_of(answer.game))
    except UnknownState as error:
        raise UnknownState(f"{answer.title}: {error}") from None


def _start(answer: Any) -> str:
    """The start as a state is typed."""
    from rollwise.builders.rules import Rules

    rules = Rules(answer.game, any_players=True)
    return rules.state_text(rules.start).replace(", ", ",")


def _map(answer: Any, question: Mapping[str, Any]) -> str:
    """The best actions around a position: the positions differ along the fields `x` and `y`."""
    from rollwise.answer.rows import MOST_ALONG, MOST_CELLS, rows_near, slice_around
    from rollwise.documents.served import map_document
    from rollwise.graph.choices import has_choice
    from rollwise.words import Narrator

    part, state = _found(answer, question)
    here = part.graph.view[state]
    after = [one.next_state for one in here.throws if one.next_state is not None]
    # after the first throw with a choice, or in the position itself without throws
    place = next((one for one in after if one.is_choice), after[0] if after else here).address
    named = place["state"]
    axes = _axes(part.graph.title, list(named), question)
    at = list(named.values())
    sets = _sets(answer)
    if answer.is_whole:
        kept = answer.graph.positions
        columns = [answer.graph.field_names.index(name) for name in named]
        table = answer.graph.states[kept][:, columns]
        around = slice_around(table, at, axes, counts=has_choice(answer.graph)[kept], sets=sets)
        part, positions = answer.near(kept[around.positions])
    else:
        most = min(MOST_CELLS, answer.space.at_once)
        # the table is too large to be searched: candidates are made, and looked up
        rows = rows_near([*_sample(answer).values()], at, axes)
        places = answer.places_of(rows)
        rows, places = rows[places >= 0], places[places >= 0]
        around = slice_around(rows, at, axes, most, sets=sets)
        if any(len(around.numbers[f]) >= MOST_ALONG for f in around.axes):
            around = around._replace(left_out=-1)  # more than were asked for
        part, positions = answer.near(places[around.positions])
    narrator = Narrator(part.graph, part.game)
    state = part.graph.find(named, place["throw"], place["rolls_left"])
    return encode(map_document(part, narrator, around, positions, state))


def _sets(answer: Any) -> list[int]:
    """The fields whose numbers stand for sets."""
    from rollwise.game import is_set

    columns = enumerate(_sample(answer).items())
    return [f for f, (name, x) in columns if is_set(answer.game, name, np.unique(x).tolist())]


def _axes(title: str, names: list[str], question: Mapping[str, Any]) -> list[int]:
    asked = [question[axis] for axis in ("x", "y") if question[axis] is not None]
    for name in asked:
        if name not in names:
            raise UsageError(f"{title} has no field {name!r} (its fields: {', '.join(names)})")
    if len(set(asked)) < len(asked):
        raise UsageError(f"x and y are both {asked[0]}; choose two different fields")
    return [names.index(name) for name in asked]


def _keep(answer: Any, question: Mapping[str, Any]) -> str:
    """Replay a game here, and save it."""
    from rollwise.coach.game_record import agreed_game, replay, title
    from rollwise.coach.json_lines import History, json_line, record_of_line
    from rollwise.coach.table import Table

    record = record_of_line(question["record"], "the record", 1)
    game = answer.game
    if title(agreed_game([record], type(game.made_from), {})) != title(game):
        raise UsageError(f"this isn't a game of {title(game)}")
    table = Table.of(answer, game)
    policies = [None if name in ("", "human") else name for _, name in record.seats]
    session = replay(record, table, policies=policies)
    number = History(Path(question["history"])).keep(json_line(session))
    return encode({"number": number, "over": session.is_over})


def _table(answer: Any, question: Mapping[str, Any]) -> str:
    from rollwise.documents.answers import table_json

    return table_json(answer, answer.rows_of(_wanted(answer, question)[0]))


def _wanted(answer: Any, question: Mapping[str, Any]) -> tuple[Any, int]:
    """The states of the rows in question, and the number of all states with its condition."""
    begin, end = question["offset"], question["offset"] + min(question["limit"], MOST_ROWS)
    states = answer.states_where(question["where"])
    return states[begin:end], len(states)


def _table_rows(answer: Any, question: Mapping[str, Any]) -> str:
    """Some rows as HTML, the number of all rows, and the fields."""
    from rollwise.documents.answers import strategy_rows
    from rollwise.words import in_words

    shown, total = _wanted(answer, question)
    cells = answer.cells_of(shown)
    rows = strategy_rows(in_words(answer.game, cells))
    fields = list(answer.fields_of(shown[:1], throws=False))
    table = html_of([rows], "the best action and the value of each position")
    return encode({"html": table, "fields": fields, "n": len(shown), "total": total})


def _page(answer: Any, question: Mapping[str, Any]) -> str:
    from rollwise.coach.table import Table
    from rollwise.page import OpenFacts, TooLargeForPage, open_page, page

    api: dict[str, bool | str] = {"keeps": question["keeps"], "has_file": False}
    if question["rules"]:
        api["rules"] = question["rules"]
    table = Table.of(answer, answer.game)
    if answer.is_whole:
        is_small = answer.graph.n_outcomes <= PACKED_AT_ONCE or answer.profile is not None
        if is_small or question["file"]:
            try:
                return page(answer, api=api)
            except TooLargeForPage:
                if question["file"] or answer.profile is not None:
                    raise
        api["has_file"] = not is_small
    facts = OpenFacts(answer.error_bound, table.fingerprint, _sample(answer))
    return open_page(table.solution, facts, api)


@lru_cache(1)
def _sample(answer: Any) -> dict[str, Any]:
    """The fields of some positions, evenly spread."""
    n = len(answer.graph.positions) if answer.is_whole else answer.space.n_positions
    some = np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.int64))
    if answer.is_whole:
        return dict(answer.fields_of(answer.graph.positions[some], throws=False))
    return dict(zip(answer.space.field_names, answer.space.states[some].T, strict=True))


def _opponents(answer: Any, question: Mapping[str, Any]) -> str:
    from rollwise.documents.served import opponents_document

    return encode(opponents_document(answer))


def _report(answer: Any, question: Mapping[str, Any]) -> str:
    from rollwise.plot import require_plotly

    require_plotly()
    from rollwise.report import report

    return report(answer)


def _kinds(answer: Any, question: Mapping[str, Any]) -> str:
    """The kinds of pictures that the game has."""
    from rollwise.plot import fits, require_plotly

    require_plotly()
    drawn = {kind: _placed(answer, kind, None) for kind in PLOTTED}
    return encode([kind for kind, (part, at) in drawn.items() if fits(part, kind, **at)])


def _plot(answer: Any, question: Mapping[str, Any]) -> str:
    from rollwise.plot import check_choices, plot, require_plotly
    from rollwise.plot.pages import page

    require_plotly()
    kind = question["kind"]
    part, at = _placed(answer, kind, question["state"])
    choices = {name: question[name] for name in ("x", "y", "where")} | at
    check_choices(kind, **choices)
    return page(plot(part, kind, **choices), f"{part.title}: {kind}")


def _placed(answer: Any, kind: str, state: str | None) -> tuple[Any, dict[str, Any]]:
    """The part of an answer to draw, with the choice of its position where there is one."""
    from rollwise.plot.kinds.graph import is_readable

    if state is None and kind == "graph" and not (answer.is_whole and is_readable(answer)):
        state = _start(answer)  # one decision of a large game
    if state is None:
        return answer, {}
    part, place = answer.locate(_state(answer, state))
    return part, {"state": part.graph.view[place].address["state"]}


def _hidden_page(answer: Answer) -> str:
    from rollwise.documents.hidden import answer_blocks
    from rollwise.page.hidden import page_of

    return page_of(answer, answer_blocks(answer))


def _hidden_report(answer: Answer) -> str:
    from rollwise.documents.hidden import answer_blocks
    from rollwise.page.hidden import report_of

    return report_of(answer, answer_blocks(answer))


def _hidden_answer(answer: Answer) -> str:
    from rollwise.documents.hidden import solved_document

    return html_of(solved_document(answer).told(), "answer")


HIDDEN_REPLIES: dict[str, Callable[[Any], str]] = {
    "page": _hidden_page,
    "report": _hidden_report,
    "answer": _hidden_answer,
}
REPLIES = {
    "advise": lambda answer, question: encode(_advised(answer, question)),
    "advice": lambda answer, question: html_of(_advised(answer, question).told(), "advice"),
    "answer": lambda answer, question: html_of(_solved(answer, question).told(), "answer"),
    "position": _position,
    "boards": _boards,
    "map": _map,
    "keep": _keep,
    "table": _table,
    "table_rows": _table_rows,
    "page": _page,
    "opponents": _opponents,
    "report": _report,
    "kinds": _kinds,
    "plot": _plot,
}

if __name__ == "__main__":
    main()
