"""Games that are played by typing, with everything that may be typed; and their reviews."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from unittest import mock

import pytest
from cli_runner import Done, output, refusal, run

GAMES = Path(__file__).parent / "play_games.py"
CAPTURE, ODD, PIT = (f"{GAMES}:{name}" for name in ("Capture", "Odd", "Pit"))
PIG = ("pig", "target=20", "--seed", "5")


def play(folder: Path, *arguments: str, typed: str) -> Done:
    """A game for which these lines are typed, until they end."""
    lines = io.StringIO("".join(f"{line}\n" for line in typed.split(" / ")))
    with mock.patch("sys.stdin", lines):
        return run("play", *arguments, cwd=folder)


def moves(path: Path) -> str:
    return " ".join(line for line in path.read_text().splitlines() if line[0] != "@")


def interrupted(*_):
    raise KeyboardInterrupt


# ---- what is typed is what is done


@pytest.mark.parametrize(
    ("typed", "done"),
    [("1", "1"), ("2", "2"), ("3 / 1", "1"), ("0 / 2", "2"), ("t / 2", "2")],
)
def test_an_action_without_a_name_is_typed_as_its_number(tmp_path, typed, done):
    """The menu shows 2, 1, in this order: a number is never a place in it."""
    shown = play(tmp_path, CAPTURE, "--against", "human", "--seed", "5", typed=typed)
    assert re.search(r"\n +2 +1 *\n", shown.stdout), shown.stdout
    assert moves(tmp_path / "capture.game").startswith(f"player 1: throw #1, {done}")


def test_forced_throws_are_made_and_captures_are_told(tmp_path):
    """Nobody is asked to choose the one thing there is; and captures are told by fields."""
    shown = play(tmp_path, CAPTURE, "--against", "human", "--seed", "1", typed="3 / 3").stdout
    assert shown.count("player 1> ") + shown.count("player 2> ") == 3
    assert "plays 3: mine 0 → 3, theirs 3 → 0, thrown 3 → 0" in shown


def test_wrong_input_is_told_once_with_what_can_be_typed(tmp_path):
    shown = play(tmp_path, *PIG, typed="fly / 3 / r").stdout
    assert shown.count("'fly' can't be done here; the choices are roll, hold; or hint, undo") == 1
    assert shown.count("'3' can't be done here") == 1
    assert "→ you roll" in shown


def test_a_game_that_goes_on_for_ever_can_be_stopped(tmp_path):
    """In the pit there is nothing to choose, and no end; values there are infinite."""
    done = play(
        tmp_path,
        PIT,
        "--seed",
        "3",
        "--coach",
        "mistakes",
        "--json",
        typed="stay /  / jump /  /  / q",
    )
    assert "it costs 1.000 points; better: walk" in done.stderr
    assert "it costs inf points; better: walk" in done.stderr
    assert done.stderr.count("Enter goes on> ") == 2
    document = json.loads(done.stdout)
    assert document["result"] is None
    assert len(document["moves"]) == 202
    assert "few are good" in output("review", PIT, "pit.game", cwd=tmp_path)


def test_choices_come_before_commands_of_the_same_name(tmp_path):
    shown = play(tmp_path, ODD, "--seed", "1", typed="undo / :undo / :fly / 7 / undo 2").stdout
    assert "→ you play undo: " in shown
    assert "Taken back." in shown
    assert "there is no command 'fly'; type hint, undo" in shown
    assert "→ you play 7: " in shown
    assert "'undo 2' can't be done here" in shown
    assert moves(tmp_path / "odd.game").startswith("you: 7 #")


# ---- the coach


def test_the_coach_speaks_when_it_is_to(tmp_path):
    bad = "r / r / h / "  # with 8 points of 20
    silent = play(tmp_path, *PIG, typed=bad + "hint").stdout
    assert "coach:" not in silent
    assert re.search(r"roll +\d\d\.\d\d % *\n +hold +\d\d\.\d\d % +\d+\.\d\d", silent)
    off = play(tmp_path, *PIG, "--coach", "off", typed="hint").stdout
    assert "the coach keeps silent" in off
    always = play(tmp_path, "--coach", *PIG, typed=bad).stdout
    assert always == play(tmp_path, *PIG, "--coach=always", typed=bad).stdout
    assert always.index("chance to win") < always.index("you> ")
    assert "coach: nothing is better" in always
    assert re.search(r"coach: a \w+ ?\w* choice: it costs \d+\.\d\d percentage points; ", always)
    assert "--coach is 'loud'; it must be always" in refusal("play", "pig", "--coach=loud")


def test_the_coach_warns_before_the_dice_fall(tmp_path):
    asked = (*PIG, "--coach", "mistakes")
    back = play(tmp_path, *asked, typed="r / h / undo / r / h / r").stdout
    assert back.count("coach: ") == 2
    assert "better: roll" in back
    assert "hold:" not in back
    assert moves(tmp_path / "pig.game").count("roll") == 4
    stands = play(tmp_path, *asked, typed="h / ").stdout
    assert "Enter lets it stand" in stands
    assert "→ you hold: 5 to 0" in stands


def test_points_are_points(tmp_path):
    shown = play(
        tmp_path, "threes", "dice=2", "--seed", "3", "--coach", typed="take none / 1"
    ).stdout
    assert re.search(r"it costs \d\.\d{3} points; better", shown)
    assert "percentage" not in shown


def test_undo_takes_back_the_last_choice_and_all_after_it(tmp_path):
    shown = play(tmp_path, *PIG, typed="undo / r / h / undo / stats").stdout
    assert "there is no choice yet to take back" in shown
    assert shown.count("Taken back.") == 1
    assert "1 decision: " in shown
    assert moves(tmp_path / "pig.game") == "you: roll 5, roll 3"
    play(tmp_path, *PIG, "--save", "b.game", typed="r / h / undo / undo / r / r")
    assert moves(tmp_path / "b.game") == "you: roll 5, roll 3, roll 6"  # the dice fall as before


# ---- nothing is lost


@pytest.mark.parametrize("how", [EOFError, KeyboardInterrupt])
def test_a_kept_game_holds_every_move_however_it_ends(tmp_path, how):
    typed = iter(["roll", "roll"])

    def answer(*_):
        for line in typed:
            return line
        raise how

    with mock.patch("builtins.input", answer):
        done = run("play", *PIG, "--save", "a.game", cwd=tmp_path)
    assert done.returncode == (130 if how is KeyboardInterrupt else 0)
    assert "go on with: rollwise play pig --resume a.game" in done.stderr
    assert moves(tmp_path / "a.game") == "you: roll 5, roll 3, roll 6"
    shown = play(tmp_path, "--resume", "a.game", typed="undo")
    assert "14 at risk" in shown.stdout
    assert moves(tmp_path / "a.game") == "you: roll 5, roll 3"


def test_files_are_not_written_over(tmp_path):
    play(tmp_path, *PIG, typed="r / save other.game / r / save pig.game / save / save other.game")
    assert moves(tmp_path / "other.game") == "you: roll 5, roll 3, roll 6"
    again = refusal("play", *PIG, "--save", "other.game", cwd=tmp_path)
    assert "other.game is there already; --resume other.game goes on" in again
    shown = play(tmp_path, *PIG, typed="save other.game / save no/where.game / save").stdout
    assert "other.game is there already" in shown
    assert "can't be written" in shown
    assert "where? Type save and the name of a file" in shown


def test_a_game_that_cannot_be_written_is_printed(tmp_path):
    from rollwise.errors import OutputError

    with mock.patch("rollwise.cli.terminal_game.write_text", side_effect=OutputError("no room")):
        done = play(tmp_path, *PIG, "--save", "a.game", typed="r / r")
    assert done.stdout.count("no room; the game goes on") == 1
    assert "no room; this is the game:" in done.stderr
    assert "you: roll 5, roll 3, roll 6" in done.stderr


# ---- reviews


@pytest.fixture
def full(tmp_path):
    """A whole game of Pig to 30, with one bad choice."""
    path = tmp_path / "full.game"
    path.write_text(
        "@game pig target=30\n"
        "Ann: roll 2, hold\nBob: roll 6, roll 6, roll 6, roll 6, hold\n"
        "Ann: roll 1\nBob: roll 6\n"
    )
    return path


def cost(*arguments: str, cwd: Path | None = None) -> float:
    document = json.loads(output("review", *arguments, "--json", cwd=cwd))
    return document["players"][0]["cost"]


def test_the_parameters_of_the_file_count(full):
    costs = {
        cost(str(full)),
        cost("pig", str(full)),
        cost(str(full), "pig"),
        cost("pig", "target=30", str(full)),
        cost("target=30", str(full), "pig"),
        cost("pig", str(full), "target=30", "sides=6"),
    }
    assert len(costs) == 1
    full.write_text(full.read_text().replace("@game pig target=30\n", ""))
    assert cost("pig", "target=30", str(full)) in costs
    assert "there is no line @game; say which game it is" in refusal("review", str(full))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pig", "target=100"), "full.game, line 1: this game was played with target=30, not"),
        (("super-six",), "full.game, line 1: this is a game of pig, not of super-six"),
        ((CAPTURE,), "full.game, line 1: this is a game of pig, not of capture"),
        (("pig", "goal=3"), "pig has no parameter 'goal'"),
        (("pig", "target=x"), "target must be a whole number"),
        (("pig", "again.game"), "full.game' isn't a parameter; write name=value"),
    ],
)
def test_a_contradiction_is_one_clear_error(full, arguments, said):
    assert said in refusal("review", *arguments, str(full), cwd=full.parent)


def test_words_that_are_missing_are_named(tmp_path):
    assert "which FILE?" in refusal("review")
    assert "which FILE?" in refusal("review", "target=30", f"{GAMES}")
    assert "nowhere.game can't be read" in refusal("review", "pig", "nowhere.game")
    assert "which game?" in refusal("play")
    assert "which game?" in refusal("judge", "dice=2", "scores.csv")
    assert "'super-six' isn't a parameter" in refusal("play", "pig", "super-six")


def test_scores_and_plays_are_read_in_any_order(tmp_path):
    (tmp_path / "plays.csv").write_text("rolled,taken\n3 4,3\n5,5\n")
    (tmp_path / "scores.csv").write_text("3\n4\n5\n")
    for command, file in (("judge", "plays.csv"), ("scores", "scores.csv")):
        words = ("threes", "dice=2", file)
        shown = {output(command, *order, cwd=tmp_path) for order in (words, words[::-1])}
        assert len(shown) == 1


def test_files_don_t_say_which_rules_are_run(tmp_path):
    path = tmp_path / "a.game"
    path.write_text(f"@game {CAPTURE}\nA: throw #1, 1\n")
    assert "isn't installed; say which rules it has" in refusal("review", str(path))
    assert "A" in output("review", CAPTURE, str(path))
    path.write_text("@game capture goal=5\nA: throw #1, 1\n")
    assert output("review", str(path), CAPTURE).startswith("capture goal=5: ")


def test_games_of_one_file_are_of_one_kind(full, tmp_path):
    full.write_text(full.read_text() + "\nAnn: roll 4\n\n@game pig target=30\nAnn: roll 5\n")
    document = json.loads(output("review", str(full), "--json"))
    assert document["games"] == 3
    assert document["parameters"]["target"] == 30
    full.write_text(full.read_text() + "\n@game pig target=40\nAnn: roll 5\n")
    assert "line 12: this is a game of pig target=40" in refusal("review", str(full))


def test_what_play_keeps_is_reviewed(tmp_path):
    """Games with parameters, of a file, and contests; whatever had been typed."""
    play(tmp_path, "pig", "target=20", "--seed", "5", typed="r / r")
    assert "target=20" in output("review", "pig.game", cwd=tmp_path)
    mixed = "0.9*optimal+0.1*random"
    play(tmp_path, *PIG, "--against", mixed, "--save", "mixed.game", typed="r / h / r")
    assert mixed in play(tmp_path, "--resume", "mixed.game", typed="hint / h").stdout
    assert f"\n{mixed}: roll" in (tmp_path / "mixed.game").read_text()
    play(tmp_path, CAPTURE, "goal=9", "--seed", "1", typed="1 / 1 / 1")
    document = json.loads(output("review", CAPTURE, "capture.game", "--json", cwd=tmp_path))
    assert document["parameters"] == {"goal": 9}
    assert [player["player"] for player in document["players"]] == ["you", "optimal"]
    play(tmp_path, "threes", "dice=2", "--contest", "--ties", "first", typed="hint")
    kept = tmp_path / "contest-threes.game"
    document = json.loads(output("review", str(kept), "--json"))
    assert document["game"] == "contest-threes"
    assert document["parameters"]["ties"] == "first"
    refused = refusal("review", str(kept), "--contest", "--ties", "shared")
    assert "played as a contest with ties first; leave --ties out" in refused
    play(tmp_path, "threes", "dice=2", "--chase", "--target", "3", typed="hint")
    shown = play(tmp_path, "--resume", "chase-threes.game", typed="hint")
    assert "chance to win" in shown.stdout
    refused = refusal("review", "chase-threes.game", "--chase", "--target", "4", cwd=tmp_path)
    assert "played as a chase with target 3 and ties win; leave --target out" in refused
    assert "leave --contest out" in refusal("review", "pig.game", "--contest", cwd=tmp_path)
    changed = kept.read_text().replace("@rules ", "@rules 0")
    kept.write_text(changed)
    assert "under other rules" in refusal("review", str(kept))
