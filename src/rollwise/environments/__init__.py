"""Games as environments for reinforcement learning: Gymnasium and PettingZoo.

``import rollwise.environments`` registers every game with Gymnasium under its
class's name: ``gymnasium.make("rollwise/Pig-v0", target=100)``.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from rollwise.errors import MissingExtra

__all__ = ["GameAECEnv", "GameEnv", "GameVectorEnv", "mean_reward", "policy_of", "register"]

INSTALL = 'pip install "rollwise[rl]"'


def need(library: str) -> Any:
    """Import an optional library.

    Raises
    ------
    MissingExtra
        It isn't installed. The message is the command to install it.
    """
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise MissingExtra(f"{library} isn't installed: {INSTALL}") from error


def register() -> list[str]:
    """Register every game with Gymnasium; returns the names."""
    gymnasium = need("gymnasium")
    from rollwise.games import available

    names = []
    for name, cls in available().items():
        identity = f"rollwise/{cls.__name__}-v0"
        names.append(identity)
        if identity in gymnasium.registry:
            continue
        gymnasium.register(
            identity,
            entry_point="rollwise.environments.single:GameEnv",
            vector_entry_point="rollwise.environments.vector:GameVectorEnv",
            kwargs={"game": name},
            order_enforce=True,
            disable_env_checker=True,  # it warns about int32 observations and masks in `info`
        )
    return names


def __getattr__(name: str) -> Any:
    homes = {
        "GameEnv": "single",
        "GameVectorEnv": "vector",
        "GameAECEnv": "aec",
        "policy_of": "arena",
        "mean_reward": "arena",
    }
    if name in homes:
        return getattr(importlib.import_module(f"{__name__}.{homes[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


with contextlib.suppress(MissingExtra):  # the error is raised when an environment is made
    register()
