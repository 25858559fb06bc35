"""Wrong use of commands: each is refused in one line that says what to write instead."""

from __future__ import annotations

import math
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_runner import output, refusal

import rollwise
import rollwise.hidden
from rollwise.analysis.betting import windows
from rollwise.analysis.contest import solve_contest
from rollwise.errors import UsageError
from rollwise.export import export
from rollwise.games import find
from rollwise.games.chicago import Chicago
from rollwise.games.kuhn_poker import KuhnPoker
from rollwise.games.pig import Pig, Piglet
from rollwise.games.threes import Threes
from rollwise.learn import Learner, choice_probabilities, learn
from rollwise.models.arrays import from_gymnasium
from rollwise.simulate import simulate

PIGLET, MANY = Piglet(target=3), Pig(target=2, players=3)
CONTEST = rollwise.Contest(Threes(dice=1), 2)
OTHER = rollwise.Policy("other", np.ones(2))
CHICAGO = rollwise.solve(Chicago(dice=2))
TABLE = {0: {0: [(1.0, 1, 0.0, False)]}, 1: {0: [(1.0, 1, 1.0, True)]}}  # of Gymnasium

# A command a line, and what its refusal says: all the parts between the signs "&".
REFUSED = f"""
solve chess | chess & rollwise games
pig | pig is a game & rollwise solve pig
kuhn-poker target=3 | kuhn-poker is a game
unmarked.py | unmarked.py is a game, and a command precedes it
games pgi | did you mean pig
solve pgi | did you mean pig
solve thawed | did you mean thawed.py?
solve thawed.py | thawed.py & write @dataclass(frozen=True)
solve foreign.py | rollwise has no SAME & AGAIN, PASS, WIN & line 1
solve shouting.py | rollwise has no Pass; did you mean PASS?
solve rolling.py | rollwise.dice has no roll (
solve attributes.py goal=3 | (it has none); write it in the class as goal: int = parameter(...)
solve unmarked.py size=few | size must be a whole number
solve untyped.py | size is no parameter yet & size: int = ...
solve piglet --save unmarked.py | unmarked.py is a program & another name
export piglet --to json --out unmarked.py | isn't overwritten
verify unmarked.py | unmarked.py names a game & file is missing
solve thawd.py | did you mean thawed.py?
plot policy piglet | rollwise plot piglet policy
handicap hog | hog & --points mine=0..20 (its fields: mine, theirs)
tune pig | --vary & A parameter and its values: 20..120 & rollwise tune --help
evaluate pig | --policy & optimal, random
solve | Missing argument 'GAME': A game & rollwise solve --help
solve gameless.py | gameless.py has no game & class Own(Game)
solve unmarked.py:base size=few | size must be a whole number
solve unmarked.py:bose | games in it: Base
solve pig size=3 | pig & size & target
solve pig target | name=value
solve pig target=ten | pig & target & whole number
solve pig target=0 | pig & target & 0
solve pig sides=-1 | pig & sides & -1
solve pig target=5 target=6 | target & twice
solve super-six sticks=1 | super-six & sticks & 2
solve pig --mode fast | --mode & interpreted
solve pig --max-states 500 | pig & 500 & --max-states
distribution threes --reach 3 --max-states 9 | threes & 9 & --max-states
judge threes impossible.csv --max-states 9 | threes & 9 & --max-states
bet threes --max-states 9 | --max-states doesn't go with contests
solve piglet --tolerance -1 | --tolerance & positive
solve nowhere.py:Game | nowhere.py
solve broken.py:Game | broken.py & line 1
solve stalling_games.py:Other | Other & Luck
solve stalling_games.py | which game
solve stalling_games.py:NoWayOut | no-way-out & give a way to end it
solve stalling_games.py:ForbiddenPig | forbidden-pig & for ever & banked=
serve pig --game-memory inf | --game-memory is inf GB & at most
advise pig target=9 --state banked=99,rival=0,turn=0 | pig & banked=99
advise pig target=9 --state banked=1 | rival & missing
advise pig target=9 --state nonsense | nonsense & banked=0,rival=0
table pig target=9 --where 'banked >' | banked > & read
table pig target=9 --where 'bank > 1' | bank & did you mean banked
table hare-and-tortoise --where 'board.0 >' | 'board.0 >' can't be read
table pig target=9 --where "open('x')" | no condition
table pig target=9 --where 'turn > {500 * "-"}1' | too deeply nested
table pig target=9 --where 'action > 3' | no action & roll, hold
table pig target=9 --out x.txt | .csv
table pig target=9 --out no/where/x.csv | x.csv & written
solve pig --save own.csv | save it as own.parquet & rollwise table GAME --csv
solve pig target=9 --save no/where/x.parquet | written

% parameters typed as options
solve pig --target 50 | pig: target is a parameter of the game & write target=50
plot pig policy --target=50 | write target=50
table super-six --sticks 7 | super-six: sticks is a parameter & write sticks=7
table super-six --sticks=7 --json | write sticks=7
solve --must-bank true pig | write must_bank=true
solve super-six --sticks | write sticks=VALUE
solve pig --sticks 7 | No such option: --sticks

% states
advise super-six sticks=7 --state thrown=true | no field 'thrown'; a state is lid, mine
advise super-six sticks=7 --state thrown | isn't a state & as in lid=0,mine=3,theirs=4,forced=1
advise cant-stop --state x | isn't a state & as in banked=(0,0,0),turn=(0,0,0)
respond threes dice=2 --to random --state 1 | as in to_roll=2,take_two=0,
distribution threes dice=2 --state to_roll=9 | take_two is missing; a state is to_roll
plot threes dice=2 graph --state x | as in to_roll=2,

% methods
solve super-six sticks=7 --method magic | no method 'magic'
solve super-six sticks=7 --set epsilon=1 | has no option 'epsilon'
solve super-six sticks=7 --method value-iteration --set epsilon=-1 | less than 0
solve super-six sticks=7 --method value-iteration --set epsilon=nan | it must be finite
solve super-six sticks=7 --method value-iteration --set epsilon=inf | it must be finite
solve super-six sticks=7 --method value-iteration --set start=nan | it must be finite
solve super-six sticks=7 --method mixed-integer --set tolerance=inf | it must be finite
solve super-six sticks=7 --method value-iteration --set sound=maybe | true or false, not 'maybe'
solve super-six sticks=7 --method value-iteration --set order=up | no order
solve super-six sticks=7 --method mixed-integer --set solver=up | no solver
solve super-six sticks=7 --method mixed-integer --set start=up | no method 'up'
solve super-six sticks=7 --history changes.txt | .csv or .json
solve super-six sticks=7 --history - | has no sweeps & --method value-iteration
solve super-six sticks=7 --method exact --history sweeps.csv | the method exact has no sweeps
solve super-six sticks=7 --method linear-programming --history - | linear-programming has no sweeps
solve super-six sticks=7 --method mixed-integer --history gaps.csv | mixed-integer has no sweeps
solve super-six sticks=3 --by-layer --history x.csv | --history doesn't go with --by-layer
table super-six sticks=7 --method magic | no method 'magic'
table super-six sticks=7 --method exact --load x.parquet | can't be had with --load
table pig --load x --method value-iteration | --method can't be had with --load
advise super-six sticks=7 --state lid=3 --method magic | no method 'magic'
compare super-six sticks=7 --methods exact,magic | no method 'magic'
compare super-six sticks=7 --time-limit 0 | positive
compare super-six sticks=7 --set time_limit=1 | --time-limit

% policies
evaluate super-six sticks=7 --policy magic | no policy 'magic'
evaluate super-six sticks=7 --policy random --method magic | exact or iterative
evaluate super-six sticks=7 --policy random --method exact --set theta=1 | --method iterative
evaluate super-six sticks=7 --policy random --state lid=9 | is missing
evaluate piglet --policy random --table --state turn=1 | --state is one position & --where
evaluate craps --policy random --against random | for one
evaluate pig target=6 --policy optimal,random --against random | --against doesn't go with
evaluate pig target=6 --policy optimal,random,random | has 2 seats, and 3 policies were given
respond craps --to random | there is no opponent
length pig target=9 --policy optimal,random | goes with --within K
export simultaneous-pig --to efg | can return to the position & each must end
tune frozen-lake --vary discount=0.1..0.5 --for "value = 0.5" | no step & 0.1..0.5..0.1
advise shut-the-box tiles=4 --state "open={{1,99}},dice=2" | isn't a state
respond super-six sticks=7 --to nothing.csv | no file
simulate piglet --policy hold-at-20 | no policy 'hold-at-20'
simulate piglet --policy hold-at-2 --games 0 | --games
simulate piglet --policy hold-at-2 --workers 0 | --workers
simulate piglet --policy hold-at-2 --seed -1 | seed
simulate piglet --policy 0.5*hold-at-2+luck | 0.5*hold-at-2+luck
simulate piglet --policy nothing.csv | nothing.csv
simulate pig target=10 --policy random --tell --games 9 | --games doesn't go with --tell
tournament piglet --policies random | at least two
tournament piglet --policies random,random | twice
tournament piglet --policies random,luck | luck
tournament piglet --policies hold-at-2,random --games 1 | --games

% learning
learn piglet | --games
learn piglet --games 0 | --games
learn piglet --games 5 --explore 0 | explore
learn piglet --games 5 --explore nan | explore
learn piglet --games 5 --workers 0 | workers
learn piglet --games 5 --seed -1 | seed
learn piglet --games 5 --method luck | luck
learn piglet --games 5 --compare 0 | --compare
learn piglet --games 5 --csv --json | --csv & --json
learn piglet --games 5 --save nowhere/at/all.npz | all.npz
learn piglet --games 5 --save learned.csv | learned.csv: the name must end in .npz
learn piglet --games 5 --against random --save learned.npz | must end in .csv or .parquet
learn piglet --games 5 --resume nowhere.npz | nowhere.npz
learn dice-blackjack low=9 high=8 --games 5 | high
learn dice-blackjack sides=1000 dice=20 --games 5 | sides
learn craps --games 9 --csv --compare | --compare doesn't go with --csv

% forms of games
solve threes target=3 | as=chase target=3
table threes target=3 | as=chase target=3
report threes target=3 | as=chase target=3
solve threes ties=win | as=chase ties=win
plot threes policy ties=win | as=chase ties=win
export threes --to drn ties=first | a form of a solitaire game has it
solve threes as=chase | needs a target: target=SCORE, from 0 to 30
simulate threes --policy optimal as=chase | needs a target
simulate frozen-lake --policy optimal as=contest | and 1 more state. This needs
solve threes as=chase target=31 | needs a target from 0 to 30, not 31
solve threes --target 7 | write as=chase target=VALUE
solve threes as=contest --set starts=2 | --set doesn't go with as=contest
solve threes as=contest players=2 --set max_sweeps=9 | --set doesn't go
solve threes as=contest players=2 --tolerance 1 | --tolerance doesn't go
solve threes as=contest players=1 | players must be at least 2, not 1
solve threes as=contest players=101 | a contest has from 2 to 100 players, not 101
solve threes as=contest players=2 ties=no | not 'no'
solve threes as=contest players=2 as=chase | the parameter 'as' is given twice
solve threes dice=0 | dice must be from 1 to 23, not 0
solve piglet as=contest players=2 | has no score
solve pig as=chase target=1 | has no score
solve threes as=cube | this is a solitaire game; as=contest and as=chase are forms
solve craps as=cube | is a solitaire game
solve pig players=3 as=cube | this game has 3 players; write pig players=2 as=cube
solve pig as=cube limit=0 | limit must be from 1 to 30
solve pig target=5 as=cube match=3 beavers=true | beavers are for money play
solve pig as=cube limt=3 | did you mean limit?
bet pig as=cube limit=3 | leave out as=cube
solve threes as=within | is for games won or lost; as=chase
export pig players=3 target=4 --to lp | the formats prism, drn, umb, parquet, json, npz take more
export pig players=3 target=4 --to drn | give their policy & --to prism
simulate pig players=3 target=4 --policy random --against random --tell | isn't for games of three
simulate pig players=3 target=4 --policy random,random --tell | has 3 seats, and 2 policies
simulate threes dice=2 --policy random,random --tell | is a game for one
frontier pig players=3 target=4 | frontier is for one player; optimal has second aims
scores pig scores.txt target=4 | distribution has the results of each player
length pig players=3 target=4 --by-layer | --by-layer isn't for games of three or more players
optimal pig players=3 target=4 --against random | evaluate --policy P,Q,Q has such results
certify pig players=3 target=4 --policy random,random | has 3 seats, and 2 policies were given
certify pig players=3 target=4 --values v.npy | columns win_probability.0, win_probability.1
certify pig target=4 --policy random,optimal | a policy for each seat is for three or more players
solve super-six players=3 sticks=2 | too few for 3 players
thumb pig --numbers -1 | --numbers is -1; it must be at least 1
thumb pig --within -1 | --within is -1.0; it can't be less than 0
learn pig --games 9 --workers 0 | --workers is 0; it must be from 1 to 256
solve pig players=3 as=within | as=within is for one player or two players & write pig players=2
solve pig players=3 as=cube | as=cube is for two players & write pig players=2 as=cube
solve threes players=3 as=chase | as=chase is for one player & write threes players=1 as=chase
solve pig players=3 as=score | as=score is for one player & `rollwise solve pig`
solve craps as=within turns=0 | turns must be from 1
solve pig as=average | no end

% questions
distribution threes --policy nope | no policy 'nope'
distribution gamblers-problem capital=1 goal=3 --count 1 | 1 counts 1 time in the state & no bound
distribution threes --count jump | no action is called 'jump'
distribution threes --csv --json | can't both be had
distribution threes --policy chase-40 | no play ends with 40
distribution threes --policy chase-3 --exact | --exact doesn't go with
distribution threes --seed 3 | --seed goes with --simulate
distribution threes --reach 3 --exact | doesn't go with --reach
distribution threes --reach x | write whole numbers
distribution pig --reach 3 | --reach is for one player
distribution threes dice=2 --range --count roll | --range
distribution threes dice=2 --then variance --exact | --exact doesn't go with --then & --save FILE
distribution pig target=6 --count roll | --count is for one player
distribution pig players=3 target=6 --reach 3 | --reach is for one player & has 3
distribution threes dice=2 --policy optimal,random | is a game for one, and 2 policies
handicap threes dice=2 | is a game for one: there is no second player to give points to
handicap pig players=3 target=4 --points turn=0..1 | turn,FIELD,FIELD=0..20
distribution pig target=6 --given 'turn >= 40' | no play meets the condition
optimal pig target=10 --range variance | is won or lost
optimal pig target=10 --range win | first aim
optimal pig target=10 --range draw | never drawn
optimal threes dice=2 --then often:roll | most:QUANTITY
optimal threes dice=2 --then luck | no quantity 'luck'
optimal threes dice=2 --then win:both | shared
optimal threes dice=2 --against random | game for one
frontier threes dice=2 --aim variance | a frontier is for
frontier pig target=10 | is for one player
bet threes --scores x | isn't a list of scores
bet threes dice=2 --scores 31 | no play ends with 31
bet threes dice=2 --scores 1,2 | is over
bet threes dice=2 --state a=1 | there is no field 'a' & a state is to_roll
many-dice pig | isn't a game of taking the lowest dice
many-dice threes --most 0 | from 1 to 20,000, not 0
many-dice threes dice=5000 | write --most 5000 in the place of dice=5000
scores threes nowhere.csv | nowhere.csv can't be read
scores threes impossible.csv | 31 doesn't occur with this policy: its scores go from 0
judge threes nowhere.csv | nowhere.csv can't be read
length threes --within 3 --best | are won or lost
length pig target=5 --within 3 --policy optimal,optimal,optimal | 2 seats, and 3
length craps --best | --best goes with --within K
length craps --within 3 --by-layer | --by-layer doesn't go with --within
length pig target=8 --policy nobody | no policy
length yahtzee boxes=2 --by-layer | pool of dice
length royal-ur --by-layer --policy random | --policy goes without --by-layer
plot craps value --set width=500 | --set width=500 is for .png

% play
play threes --contest | write as=contest
play pig --resume x.game --against random | --against doesn't go with --resume
play threes --seats second | for games of two against rollwise
play pig target=10 --against human --seats second | for games of two against rollwise
play pig players=3 target=9 --seats human,random | --seats names 2: human,random
play pig players=3 target=9 --seats human,random,random --against random | doesn't go with --seats
play pig players=3 target=9 --seats second | --seats second is for games of two
play threes dice=2 --seats a,b | and threes is a game for one
play pig players=3 target=9 --seats human,best,random | no policy 'best'

% games with hidden dice
length kuhn-poker | hidden
plot kuhn-poker policy | hidden
thumb kuhn-poker | hidden
compare kuhn-poker | hidden
distribution kuhn-poker | hidden
tournament kuhn-poker --policies optimal,random | hidden
solve kuhn-poker --method exact | --method isn't for games with hidden
"""
SHEET = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import WIN, Game, parameter

class Spot(NamedTuple):
    x: int

@dataclass(frozen=True)
class Base(Game):
    size: int = parameter(3)
    def start(self):
        return Spot(0)
    def actions(self, s):
        return (1,)
    def outcomes(self, s, action):
        yield 1, WIN, s
"""
FILES = {
    "broken.py": "def start(:\n",
    "gameless.py": "class Own:\n    pass\n",
    "thawed.py": SHEET.replace("(frozen=True)", ""),
    "unmarked.py": SHEET.replace("@dataclass(frozen=True)\n", ""),
    "untyped.py": SHEET.replace("@dataclass(frozen=True)\n", "").replace(
        "size: int", "more: int = parameter(1)\n    size"
    ),
    "foreign.py": "from rollwise import SAME",
    "shouting.py": "from rollwise import Pass",
    "rolling.py": "from rollwise.dice import roll",
    "attributes.py": "from rollwise import Game\nclass Own(Game):\n    goal = 2",
    "impossible.csv": "5\n31\n",
}
CASES = [line for line in REFUSED.splitlines() if line and not line.startswith("%")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.partition(" | ")[0][:70])
def test_wrong_use_is_refused_in_a_line_and_writes_nothing(case, tmp_path):
    typed, said = case.split(" | ")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    shutil.copy(Path(__file__).with_name("stalling_games.py"), tmp_path)
    message = refusal(*shlex.split(typed), cwd=tmp_path)
    assert all(part in message for part in said.split(" & ")), message
    files = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert files == {*FILES, "stalling_games.py"}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rollwise.evaluate(PIGLET, "random", method="iterative", steps=1), "steps"),
        (lambda: rollwise.distribution(Threes(dice=2), state=51), "from 0 to 50"),
        (lambda: rollwise.certify(rollwise.build(PIGLET), np.zeros(3)), "18 states"),
        (lambda: rollwise.certify(PIGLET, np.zeros(18)), "a graph is wanted"),
        (lambda: rollwise.solve_contest(PIGLET), "a contest is wanted"),
        (lambda: rollwise.solve_by_layers(PIGLET, resume=True), "as save"),
        (lambda: rollwise.check(KuhnPoker()), "hidden dice"),
        (lambda: rollwise.evaluate(PIGLET, "random", starts=["first"]), "numbered from 0 to 17"),
        (lambda: rollwise.solve(MANY, options={"starts": 3}), "has no option 'starts'"),
        (lambda: rollwise.Contest(Threes(dice=2), "two"), "from 2 to 100 players, not 'two'"),
        (lambda: rollwise.solve_contest(CONTEST, {2: "take-one"}), "from 0 to 1"),
        (lambda: Threes(dice=2).chase("far"), "target must be a whole number"),
        (lambda: Threes(dice=2).chase(np.int64(3)), "a number of NumPy: write int"),
        (lambda: PIGLET.within(0.5), "turns must be a whole number"),
        (
            lambda: rollwise.solve(PIGLET, method="value-iteration", options={"epsilon": -1}),
            "epsilo",
        ),
        (
            lambda: rollwise.solve(PIGLET, method="value-iteration", options={"start": math.inf}),
            "start is inf; it must be finite",
        ),
        (
            lambda: rollwise.solve(PIGLET, method="value-iteration", options={"sound": "maybe"}),
            "sound is true or false, not 'maybe'",
        ),
        (
            lambda: rollwise.solve(PIGLET, method="exact", options={"max_digits": "x"}),
            "whole number",
        ),
        (lambda: rollwise.solve(PIGLET, tolerance="1e-6"), "tolerance is '1e-6'; it must be a pos"),
        (lambda: rollwise.solve(PIGLET, tolerance=0), "tolerance is 0; it must be positive"),
        (lambda: rollwise.solve(PIGLET, tolerance=math.inf), "tolerance is inf; it must be finite"),
        (lambda: rollwise.solve(PIGLET, tolerance=True), "it must be a positive number"),
        (lambda: rollwise.solve(PIGLET, tolerance=10**400), "more than the largest float"),
        (lambda: rollwise.solve(PIGLET, max_states="10"), "max_states is '10'; it must be a whole"),
        (lambda: rollwise.solve(PIGLET, options=3), "options is 3; it must be a mapping"),
        (lambda: rollwise.hidden.solve(KuhnPoker(), tolerance="x"), "tolerance is 'x'"),
        (lambda: rollwise.solve(PIGLET).report(rules=-1), "rules is -1; it must be at least 0"),
        (lambda: rollwise.evaluate(PIGLET, "random", method="iterative", theta=-1), "less than 0"),
        (lambda: rollwise.evaluate(PIGLET, "random", method="iterative", theta=math.inf), "finite"),
        (lambda: find(3), "a game has a name, such as 'pig', or a path, not 3"),
        (lambda: find(Path("no/such.py")), "no/such.py"),
        (lambda: learn(PIGLET, 10), "a graph is wanted"),
        (lambda: learn(rollwise.build(PIGLET), "many"), "games is 'many'; it must be a whole num"),
        (lambda: simulate(PIGLET, "random", games=1.5), "games is 1.5; it must be a whole number"),
        (lambda: simulate(MANY, "random", games=9), "give a list with a policy for each seat"),
        (lambda: simulate(PIGLET, ["random"], "random", games=9), "no opponent besides"),
        (lambda: simulate(Threes(dice=1), ["random"], games=9), "give its policy, and not a list"),
        (lambda: export(PIGLET, "piglet.json", "json"), "a solution is wanted"),
        (lambda: export(rollwise.solve(PIGLET), "no/such.json", "json"), "can't be written"),
        (lambda: windows(rollwise.solve(PIGLET)), "no doubling cube"),
        (lambda: rollwise.solve(PIGLET).page(shows="all"), "it must be play or strategy"),
        (lambda: rollwise.solve_contest(CONTEST, {0: "take-one"}), "and not of the type str"),
        (lambda: rollwise.solve_contest(CONTEST, {0: OTHER}), "is of another game: it has"),
        (
            lambda: rollwise.distribution(Threes(dice=2), points=[1, 2]),
            "the shape .2,. of int64; a whole number",
        ),
        (lambda: rollwise.solve(PIGLET).table(where=3), "a condition is a text such as 'banked >="),
        (lambda: Learner(rollwise.build(PIGLET)).record(None), "the moves of a game are wanted"),
        (lambda: choice_probabilities([np.nan], [1], 1.0), "a count of games is nan"),
        (lambda: from_gymnasium(TABLE, start="a"), "start is 'a'; it must be a whole number from"),
        (lambda: from_gymnasium(TABLE, start=1.5), "start is 1.5; it must be a whole number from"),
        (lambda: from_gymnasium(TABLE, start=2), "start is 2; it must be from 0 to 1"),
        (lambda: from_gymnasium(TABLE, name=5), "the name of a model is a text"),
        (lambda: rollwise.solve(PIGLET, method=["exact"]), "there is no method .'exact'."),
        (lambda: rollwise.solve(PIGLET, options={1: 2}), "options is .1: 2.; it must be a mapping"),
        (lambda: rollwise.solve(PIGLET, progress=True), "progress is a function"),
        (lambda: rollwise.solve(PIGLET).plot(["policy"]), "there is no picture .'policy'."),
        (lambda: learn(rollwise.build(PIGLET), 9, method=None), "there is no learner None"),
        (lambda: rollwise.solve(MANY, options={"time_limit": "x"}), "time_limit is 'x'; it must"),
        (lambda: rollwise.many_dice(Threes(), "x"), "many dice are from 1 to 20,000, not 'x'"),
        (lambda: rollwise.distribution(Threes(dice=2), state=(2, 0)), "state is .2, 0.; the sta"),
        (lambda: rollwise.solve_contest(CONTEST, [OTHER]), "a mapping of players to policies"),
        (lambda: rollwise.solve(PIGLET).page(policies="random"), "must be a list, as .'random'."),
        (lambda: rollwise.certify(rollwise.build(PIGLET), ["x"] * 18), "must be real numbers"),
        (
            lambda: rollwise.certify(
                rollwise.build(PIGLET), np.zeros(18), border_values=np.zeros(3)
            ),
            "the border have the shape .3,., and its border has 0 states",
        ),
        (lambda: CHICAGO.advise((0,), "x"), "'x' is no throw; a throw is"),
        (lambda: CHICAGO.advise((0,), (1, 1), "x"), "0 to 2 rolls are"),
        (lambda: rollwise.solve(PIGLET).table("score > 'a'"), "there is no column 'score'"),
        (lambda: rollwise.solve(PIGLET).save("own.csv"), "own.csv: .* save it as own.parquet"),
        (lambda: rollwise.solve(PIGLET).save(3), "a path is wanted, .* of the type int"),
        (lambda: rollwise.load(None), "a path is wanted, .* of the type NoneType"),
        (lambda: rollwise.verify("a\0b"), "is no path: it holds a NUL"),
        (lambda: rollwise.hidden.solve(PIGLET), "neither hidden fields nor simultaneous choices"),
        (lambda: rollwise.hidden.solve(KuhnPoker()).find({"mine": "x"}), "aren't whole numbers"),
    ],
)
def test_wrong_use_in_python(call, said):
    with pytest.raises(UsageError, match=said):
        call()


def test_a_whole_float_counts_games():
    assert simulate(PIGLET, "random", games=1e2, seed=1).games == 100


def test_a_refused_folder_of_layers_is_not_made(tmp_path):
    (tmp_path / "kept").mkdir()
    for name, is_left in (("new", False), ("kept", True)):
        refusal(
            "solve", "royal-ur", "--by-layer", "--max-states", "2", "--save", str(tmp_path / name)
        )
        assert (tmp_path / name).exists() == is_left


CLASHING = """
from typing import NamedTuple
from rollwise import PASS, WIN, Game

class S(NamedTuple):
    mine: int
    theirs: int
    {name}: int

class Clash(Game):
    def start(self):
        return S(0, 0, 0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, PASS, S(s.theirs, s.mine, 1 - s.{name})
        yield 1, WIN if s.mine else PASS, S(s.theirs, 1, 1 - s.{name})
"""


@pytest.mark.parametrize("name", ["cube", "owner", "step"])
@pytest.mark.parametrize("command", ["solve", "table", "advise"])
def test_fields_with_names_of_the_cube(tmp_path, command, name):
    sheet = tmp_path / "clash.py"
    sheet.write_text(CLASHING.format(name=name))
    found = refusal(command, str(sheet), "as=cube")
    assert f"the state has a field '{name}', and as=cube adds one of that name" in found


@pytest.mark.parametrize("name", ["seat", "probability", "standard_error", "true_value"])
def test_a_field_with_the_name_of_a_column(tmp_path, name):
    sheet = tmp_path / "clash.py"
    sheet.write_text(CLASHING.format(name=name))
    found = refusal("table", str(sheet))
    assert f"the field '{name}' of the state has the name of a column" in found


COIN = """
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple
from rollwise import LOSE, WIN, Game, parameter

class S(NamedTuple):
    x: int

@dataclass(frozen=True)
class Coin(Game):
    p: Fraction = parameter(Fraction(1, 2), at_least=Fraction(0), at_most=Fraction(9, 10))

    def start(self):
        return S(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield self.p, WIN, s
        yield 1 - self.p, LOSE, s
"""


def test_limits_that_are_fractions(tmp_path):
    sheet = tmp_path / "coin.py"
    sheet.write_text(COIN)
    assert "from 0 to 9/10" in output("games", str(sheet))
    assert "coin: p must be from 0 to 9/10, not 1" in refusal("solve", str(sheet), "p=1")


def test_a_contest_of_a_game_for_three_says_what_it_takes():
    with pytest.raises(UsageError, match="game for 3: it is decided .* for one player"):
        solve_contest(rollwise.Contest(MANY, 2))
    with pytest.raises(UsageError, match=r"one player or two; rollwise.solve\(game\) finds"):
        rollwise.build(MANY)
