"""Playing a solved game: sessions, ledgers of luck and skill, and games written down.

This room is independent of terminals: the command line is one front end of several possible.
"""

from __future__ import annotations

from rollwise.coach.game_record import Record, replay, written
from rollwise.coach.json_lines import History, json_line, read_records
from rollwise.coach.ledger import Account, Ledger
from rollwise.coach.session import Choice, Coach, Remark, Session, Speaks
from rollwise.coach.table import Fall, Table

__all__ = [
    "Account",
    "Choice",
    "Coach",
    "Fall",
    "History",
    "Ledger",
    "Record",
    "Remark",
    "Session",
    "Speaks",
    "Table",
    "json_line",
    "read_records",
    "replay",
    "written",
]
