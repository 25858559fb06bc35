"""The page on learners: reward curves beside the exact loss, from what `train.py` wrote down.

``python docs/learners/learners.py`` needs rollwise[plot,rl] and a browser for the figures; it
trains nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "case-studies"))

from study import Page, run  # noqa: E402

from rollwise.environments import GameEnv, mean_reward  # noqa: E402
from rollwise.plot.lines import Line, draw_lines  # noqa: E402
from rollwise.plot.style import BLUE, ORANGE  # noqa: E402

COLOURS = {"MaskablePPO": BLUE, "Q-learning": ORANGE}
DASHES = ("solid", "dash", "dot")


def study(page: Page) -> None:
    easy, hard = (json.loads((HERE / f"pig-{goal}.json").read_text()) for goal in (20, 50))
    env = GameEnv(**easy["environment"])
    best = mean_reward(env)
    assert abs(best.value - easy["best"]["value"]) <= best.bound + easy["best"]["bound"]
    page.text(f"""
        # What has a learner learned?

        Its exact loss tells: the loss of its policy against the best response to its opponent, in
        the mean of all games. A reward curve is an estimate, and shows the learner while it
        explores. ([How to compute the loss](../environments.md#exact-values))

        Two learners take the second seat of Pig against the optimal player: MaskablePPO of
        sb3-contrib {easy["versions"]["sb3-contrib"]}, with its own settings, and tabular
        Q-learning that takes any action in a tenth of its moves. They play
        {easy["runs"][0]["checkpoints"][-1]["steps"]:,} steps each.
    """)
    chapter(page, easy, "20", table=False)
    page.text(f"""
        The optimal second player gets {_signed(best.value, 6)} a game, and never holds. Every seed
        finds this within the first checkpoints: the exact loss of the greedy policy is 0. The
        reward of MaskablePPO goes on rising for ten times as long, because it holds by chance less
        often. The reward of Q-learning stays, since it explores as much as ever.
    """)
    chapter(page, hard, "50")
    ppo, table = hard["runs"]
    page.text(f"""
        In Pig to 50 the best is {_signed(hard["best"]["value"], 6)}. To roll always costs 0.1262.
        MaskablePPO ends with this loss of {_loss(hard, ppo["checkpoints"][-1]):.4f}, after
        {_loss(hard, ppo["checkpoints"][0]):.4f} before its first step. Meanwhile its reward rose
        from {_signed(ppo["checkpoints"][1]["reward"])} to
        {_signed(ppo["checkpoints"][-1]["reward"])}. Q-learning ends with
        {_loss(hard, table["checkpoints"][-1]):.4f}: it has seen few of the 57,722 states. The
        standard error of the mean reward between two checkpoints is
        {ppo["checkpoints"][-1]["standard_error"]:.2f}. A reward curve can't tell such policies
        apart; the exact loss can.
    """)
    page.text("""
        ## How it was measured

        Losses and rewards of policies are certified to 1e-12. The rewards of training games are
        estimates, with standard errors. The runs are kept in [pig-20.json](pig-20.json) and
        [pig-50.json](pig-50.json), with their seeds and versions. The head of `train.py` names the
        libraries to install.
    """)
    page.parts.append(
        "<!-- not run: it trains for minutes, with libraries that rollwise doesn't need -->\n"
        f"```sh\n{easy['command']}\n{hard['command']}\npython docs/learners/learners.py\n```"
    )


def chapter(page: Page, found: dict[str, Any], goal: str, table: bool = True) -> None:
    """The curves of a game, and where they end."""
    page.text(f"## Pig to {goal}")
    estimated, exact = [], []
    for name, colour in COLOURS.items():
        runs = [made for made in found["runs"] if made["learner"] == name]
        for made, dash in zip(runs, DASHES, strict=False):
            seen = made["checkpoints"]
            label = f"{name}, seed {made['seed']}"
            steps = [at["steps"] for at in seen]
            rewards = [at["reward"] for at in seen[1:]]
            losses = [max(_loss(found, at), 0.0) for at in seen]
            estimated.append(Line(label, steps[1:], rewards, colour, dash=dash, key=name))
            exact.append(Line(label, steps, losses, colour, dash=dash, key=name))
    who = "MaskablePPO and Q-learning, " + (
        "three seeds each" if len(exact) > 2 else "one seed each"
    )
    drawn = (
        ("reward", estimated, "reward a game", "Mean reward of the training games"),
        ("loss", exact, "exact loss", "Exact loss of the greedy policy"),
    )
    for name, lines, title, what in drawn:
        figure = draw_lines(
            lines,
            title=f"Pig to {goal}: {what[0].lower()}{what[1:]}",
            notes=["Seeds differ in their dashes."] if len(exact) > 2 else [],
            x_title="steps",
            y_title=title,
            baseline=name == "loss",
        )
        page.figure(f"{goal}-{name}", figure, f"{what} in Pig to {goal}: {who}")
    if not table:
        return
    rows = []
    for made in found["runs"]:
        first, last = made["checkpoints"][0], made["checkpoints"][-1]
        rows.append(
            [
                made["learner"],
                str(made["seed"]),
                f"{last['reward']:.3f} ± {last['standard_error']:.3f}",
                f"{last['exact']:.6f}",
                f"{max(_loss(found, first), 0.0):.6f}",
                f"{max(_loss(found, last), 0.0):.6f}",
            ]
        )
    head = ["learner", "seed", "last reward (estimated)", "exact reward", "loss at first", "loss"]
    page.table(head, rows)


def _loss(found: dict[str, Any], checkpoint: dict[str, float]) -> float:
    return float(found["best"]["value"] - checkpoint["exact"])


def _signed(number: float, digits: int = 2) -> str:
    return f"{number:.{digits}f}".replace("-", "−")


if __name__ == "__main__":
    given = sys.argv[1:]
    run("learners", study, given if "--out" in given else [*given, "--out", str(HERE)])
