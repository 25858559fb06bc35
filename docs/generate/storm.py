"""The table of Storm's values on models of its own Python package, measured by `certify`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from rollwise.analysis.distance import distance_of_values
from rollwise.answer import kept
from rollwise.games import create, find
from rollwise.numbers.printed import rounded_up

PAGE = Path(__file__).resolve().parents[1] / "models.md"
BEGIN, END = "<!-- from docs/generate/storm.py -->", "<!-- end -->"
CHANCE, LEAST = {"rewards": "none"}, {"optimum": "min"}
MODELS = [  # a name, a file of the package, a query, the same question here
    ("two dice", "mdp/two_dice.nm", 'Rmax=? [F "done"]', {"goal": "done"}),
    ("consensus of two", "mdp/coin2-2.nm", 'Rmax=? [F "finished"]', {"goal": "finished"}),
    ("retransmission", "dtmc/brp-16-2.pm", 'P=? [F "target"]', {"goal": "target", **CHANCE}),
    ("CSMA of two", "mdp/csma2-2.nm", 'Rmin=? [F "all_delivered"]',
     {"goal": "all_delivered", **LEAST}),
    ("crowds", "dtmc/crowds-5-5.pm", 'P=? [F "observe0Greater1"]', {"goal": "observe0Greater1"}),
    ("FireWire", "mdp/firewire3-0.5.nm", 'R{"time"}min=? [F "elected"]',
     {"rewards": "time", **LEAST}),
]  # fmt: skip


def write_model(stormpy: Any, name: str, path: Path) -> tuple[Any, Any]:
    """Build a model of Storm's package with all labels, and write it as UMB."""
    files = Path(stormpy.__file__).parent / "examples" / "files"
    program = stormpy.parse_prism_program(str(files / name))
    options = stormpy.BuilderOptions()
    options.set_build_all_labels()
    options.set_build_all_reward_models()
    model = stormpy.build_model(program, options=options)
    stormpy.io.export_to_umb(model, str(path))
    return model, program


def measured(stormpy: Any, name: str, query: str, values: dict[str, str], folder: Path) -> Any:
    """Storm's value of the start, and the distance of all its values from the true ones."""
    model, program = write_model(stormpy, name, folder / "model.umb")
    formulas = stormpy.parse_properties(query, program)
    found = stormpy.model_checking(model, formulas[0])
    numbers = [float(found.get_value(state)) for state in range(model.nr_states)]
    (folder / "storm.json").write_text(json.dumps(numbers))
    policies = kept.policies(create(find(str(folder / "model.umb")), values))
    distance = distance_of_values(policies, folder / "storm.json")
    return numbers[model.initial_states[0]], distance


def table() -> str:
    """The table, as Markdown."""
    import stormpy

    lines = [
        "| model | question | states | Storm | largest error of Storm, at most (proved) |",
        "|---|---|---|---|---|",
    ]
    for name, file, query, values in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            start, distance = measured(stormpy, file, query, values, Path(folder))
        error = rounded_up(float(distance.high[distance.worst]))
        n = len(distance.compared)
        lines.append(f"| {name} | `{query}` | {n:,} | {start:.10g} | {error} |")
    return "\n".join(lines)


def write() -> None:
    """Write the table into its page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    write()
