"""The application object. Modules of commands are imported on demand.

A module in `commands` holds one command or several related ones and registers their functions on
`app`. A function has the name of its command, with underscores for dashes. The list of commands
imports no module: names come from the sources, and docstrings from the compiled functions. A
command imports its module alone.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import re
from collections.abc import Callable
from importlib.abc import InspectLoader
from itertools import pairwise
from pathlib import Path
from types import CodeType
from typing import Annotated, Any

import typer
import typer.core
import typer.main
from typer.models import CommandInfo

import rollwise
from rollwise.cli import commands
from rollwise.cli.described import describe
from rollwise.cli.streams import ASKED
from rollwise.errors import ParameterError, RollwiseError, UsageError
from rollwise.machine import memory_limits, user_cache
from rollwise.numbers.printed import bytes_of


class Interrupted(RollwiseError):
    """The user pressed Ctrl-C."""

    exit_code = 130


# The help page: commands by purpose, each followed by its related commands.
GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "Ask": {
        "games": (),
        "check": ("new",),
        "solve": ("methods", "compare", "cache"),
        "table": ("export", "schema"),
        "advise": ("optimal",),
        "verify": ("certify",),
    },
    "See": {"plot": (), "report": (), "page": (), "serve": ()},
    "Play": {"play": ("bet",), "review": ("judge", "drill", "exploit", "scores")},
    "Policies": {
        "evaluate": ("respond", "tournament", "distribution", "frontier"),
        "simulate": (),
        "learn": (),
        "thumb": (),
    },
    "Design": {"balance": ("handicap",), "tune": ("many-dice",), "diff": (), "length": ()},
}
# Parameters left out of a command's first help page; `rollwise help COMMAND` shows them.
MORE = {"workers", "cluster", "history", "time_limit", "total_memory", "resume"}
# Options of all commands, allowed anywhere in the line, and whether a value follows.
COMMON = {"--json": False, "--no-cache": False, "--max-states": True, "--memory": True}
NO_JSON = ("help", "new", "schema", "serve")
COMMON_LINE = "every command: --json, --no-cache, --max-states N, --memory SIZE"
LEAST_MEMORY = 500_000_000  # bytes; Numba takes half of them
METAVARS: dict[Any, str] = {int: "N", float: "X", str: "TEXT", Path: "FILE"}
FIRST_LINES = """\
rollwise solve pig                 win probability and best actions, certified
rollwise play pig --coach          play against the best player, with a coach
rollwise new mygame.py             begin a game of your own: a dozen lines of Python
`rollwise --help` lists the commands."""

HELP_LINE = "\n`rollwise help` lists all commands, `rollwise help COMMAND` all options.\n"

# Options allowed without a value: the default, and a pattern of the values.
ALONE = {
    "--coach": ("always", "always|mistakes|ask|off"),
    "--tell": ("1", r"-?\d+"),
    "--compare": ("1", r"-?\d+"),
}

_DECLARED = re.compile(r'^@app\.command\("([\w-]+)"\)$', re.MULTILINE)
_DIGITS = re.compile(r"-?[0-9]{1,18}")


class _Conversion:
    """Conversion of a parameter's value: by Typer, unless the value has the right type already.

    Typer converts all values by Pydantic (from its release 0.29 on). Importing Pydantic takes
    longer than solving a small game. Most values need no conversion: text, and options not given.
    Whole numbers are read here.
    """

    def __init__(self, by_typer: Any) -> None:
        self._by_typer = by_typer

    def __call__(self) -> _Conversion:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        kind = param.type_descriptor.annotation
        if param.multiple or param.nargs != 1:
            if value is None or (kind == list[str] and all(type(item) is str for item in value)):
                return tuple(value or ())
        elif value is None or (kind in (str, int, float) and type(value) is kind):
            return value
        elif kind is int and _is_plain_number(value, param.type_descriptor.parameter_info):
            return int(value)
        coerced = self._by_typer().coerce(value, param=param, ctx=ctx)
        if isinstance(coerced, int) and not -(1 << 63) <= coerced < 1 << 63:
            raise typer.BadParameter("a number of more than 64 bits", ctx=ctx, param=param)
        return coerced


def _is_plain_number(value: Any, wanted: Any) -> bool:
    """Whether a value is a whole number in digits, within the bounds of the parameter."""
    if not isinstance(value, str) or not _DIGITS.fullmatch(value):
        return False
    low, high = wanted.min, wanted.max
    return (low is None or int(value) >= low) and (high is None or int(value) <= high)


class _ConvertsLittle:
    """A command whose parameters use Typer's conversion only where necessary."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            by_typer = getattr(parameter, "get_runtime_param", None)
            if by_typer is not None and not isinstance(by_typer, _Conversion):
                parameter.get_runtime_param = _Conversion(by_typer)
                kind = getattr(parameter.type_descriptor, "annotation", None)
                parameter.hidden = parameter.name == "show_completion"  # --install does it
                if parameter.metavar is None and not getattr(parameter, "is_flag", False):
                    parameter.metavar = METAVARS.get(kind)
                if parameter.param_type_name == "argument":
                    parameter.display_type_rich = lambda ctx=None: ""  # the name says it
                    # without Typer's own brackets: the name has them where it needs them
                    parameter._usage_display_name = lambda name=parameter.metavar: name
        return parameters


class _Command(_ConvertsLittle, typer.core.TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give a value to options that stand alone."""
        given = [*args, ""]
        whole = []
        for word, following in pairwise(given):
            alone, values = ALONE.get(word, ("", ""))
            valued = re.fullmatch(values, following)
            whole.append(f"{word}={alone}" if alone and not valued else word)
        wrong_use: Any = typer.BadParameter.__mro__[1]  # Typer has Click within itself
        try:
            rest: list[str] = super().parse_args(ctx, whole)
        except wrong_use as error:
            error.ctx = error.ctx or ctx
            if hasattr(error, "possibilities"):  # there is no such option
                _refuse_parameter(getattr(error, "option_name", ""), args)
            raise
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the first help page: the most common options."""
        hidden: list[Any] = [p for p in self.params if p.name in MORE and not p.required]
        shown = ctx.obj == ALL_OPTIONS
        for parameter in hidden:
            parameter.hidden = not shown
        super().format_help(ctx, formatter)
        formatter.write(f"\n{COMMON_LINE}\n")
        if hidden and not shown:
            more = "1 more option" if len(hidden) == 1 else f"{len(hidden)} more options"
            formatter.write(f"{more}: rollwise help {self.name}\n")


ALL_OPTIONS = "all options"  # the object of a command's context in `rollwise help COMMAND`


def _refuse_parameter(option: str, args: list[str]) -> None:
    """Raise ParameterError for ``--sticks 7`` in the place of ``sticks=7``."""
    from rollwise.games import find
    from rollwise.parameters import parameter_specs

    name, kind = option.lstrip("-").replace("-", "_"), None
    if name in ("chase", "contest", "blind", "score"):
        raise ParameterError(f"{option} is a form of the game, and not an option: write as={name}")
    for word in args:
        if word[:1] != "-" and "=" not in word:
            with contextlib.suppress(RollwiseError):
                kind = find(word)
                break
    if kind is not None and name in [spec.name for spec in parameter_specs(kind)]:
        typed = next((word.partition("=")[2] for word in args if word.startswith(f"{option}=")), "")
        typed = typed or next((after for word, after in pairwise(args) if word == option), "")
        value = "VALUE" if typed[:1] in ("", "-") or "=" in typed else typed
        raise ParameterError(f"{kind.name}: {parameter_not_option(name, value)}")
    if name in ("target", "ties"):
        raise ParameterError(f"{option} is a parameter of a form: write as=chase {name}=VALUE")


def parameter_not_option(name: str, value: object) -> str:
    """The remedy for an option with the name of a parameter."""
    return f"{name} is a parameter of the game, and not an option: write {name}={value}"


def _modules() -> dict[str, str]:
    """The modules of the commands, by the names of these, in alphabetical order."""
    found = {}
    for place in Path(commands.__path__[0]).glob("*.py"):
        for name in _DECLARED.findall(place.read_text(encoding="utf-8")):
            found[name] = f"{commands.__name__}.{place.stem}"
    return dict(sorted(found.items()))


def _info(name: str, module: str) -> CommandInfo:
    importlib.import_module(module)  # its import registers the command
    info = next(info for info in app.registered_commands if info.name == name)
    assert info.callback is not None
    describe(info.callback)
    return info


def all_functions() -> dict[str, Callable[..., Any]]:
    """The functions of all commands, by the names of these."""
    return {name: _info(name, module).callback for name, module in _modules().items()}  # type: ignore[misc]


@functools.cache
def _whole(name: str, module: str) -> Any:
    """A command as it is run."""
    info = _info(name, module)
    info.cls = _Command
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.registered_commands = [info]
    return typer.main.get_command(alone)


def _outline(name: str, module: str) -> Any:
    """A command as it is listed: to import all of them would take as long as the rest."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert isinstance(spec.loader, InspectLoader)
    code: Any = spec.loader.get_code(module)
    functions = (part for part in code.co_consts if isinstance(part, CodeType))
    said = next(part for part in functions if part.co_name == name.replace("-", "_"))
    return _Command(name=name, help=inspect.cleandoc(said.co_consts[0]))


def write_commands(formatter: Any, *, every: bool) -> None:
    """Write the commands by purpose, a line each.

    Parameters
    ----------
    every : bool
        Whether to list related commands too.
    """
    modules = _modules()
    for group, commands_of in GROUPS.items():
        rows = []
        for name, related in commands_of.items():
            for one in (name, *(related if every else ())):
                text = _outline(one, modules[one]).get_short_help_str(64)
                rows.append((one if one is name else f"  {one}", text))
        with formatter.section(group):
            formatter.write_dl(rows, col_max=20)


def _is_game(word: str) -> bool:
    """Whether a word names a game of this package, or a file of rules."""
    from rollwise.games import available, names_a_file

    return names_a_file(word) or word in available() or word in available(hidden=True)


class CommandsOnDemand(_ConvertsLittle, typer.core.TyperGroup):
    """A group of `commands` that imports the module of the requested command only."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _modules()  # by the names; `get_command` makes a command

    def get_command(self, ctx: Any, name: str) -> Any:
        return _whole(name, self.commands[name]) if name in self.commands else None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the options of all commands from any place of the line."""
        front, rest, words = list[str](), list[str](), iter(args)
        for word in words:
            name, equals, _ = word.partition("=")
            if word == "--":
                rest += [word, *words]
            elif name in COMMON:
                front.append(word)
                if COMMON[name] and not equals:
                    value = next(words, None)
                    if value is None:
                        raise UsageError(f"{name} needs a value")
                    front.append(value)
            else:
                rest.append(word)
        return super().parse_args(ctx, [*front, *rest])

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:  # Typer prints no message for it
            raise Interrupted(" ".join(["stopped", *getattr(stop, "__notes__", [])])) from stop

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of a line. A game in its place is told apart from a misspelled command."""
        if args and args[0] not in self.commands and _is_game(args[0]):
            raise UsageError(
                f"{args[0]} is a game, and a command precedes it, as in rollwise solve {args[0]}"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands by purpose."""
        write_commands(formatter, every=False)
        formatter.write(HELP_LINE)


app = typer.Typer(
    name="rollwise",
    cls=CommandsOnDemand,
    help="Solve turn-based dice games exactly, with a certified error.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=True,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [GAME] [NAME=VALUE]... [OPTIONS]",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"rollwise {rollwise.__version__}")
        raise typer.Exit


def _use_cache(no_cache: bool) -> None:
    user_cache.use(not no_cache)


def _limit_memory(text: str | None) -> None:
    """Take no more memory than --memory says."""
    if text is not None:
        size = bytes_of(text)
        if size is None or size < LEAST_MEMORY:
            raise UsageError(f"--memory is {text}; it is an amount such as 8GB, at least 500MB")
        memory_limits.limit(size)


@app.callback()
def of_all_commands(
    ctx: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document only.")] = False,
    no_cache: Annotated[
        bool,
        typer.Option(
            "--no-cache",
            callback=_use_cache,
            help="Neither read nor keep answers: see `rollwise cache`.",
        ),
    ] = False,
    max_states: Annotated[
        int | None, typer.Option("--max-states", min=1, help="Give up beyond this many states.")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            callback=_limit_memory,
            help="Memory limit, as in 8GB; larger problems are refused.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    ASKED.json, ASKED.max_states = json, max_states
    ctx.with_resource(memory_limits.states_at_most(max_states))
    if json and ctx.invoked_subcommand in NO_JSON:
        raise UsageError(f"{ctx.invoked_subcommand} prints no JSON document: leave out --json")
    if ctx.invoked_subcommand is None:
        typer.echo(FIRST_LINES)
