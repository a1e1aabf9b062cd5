"""The folders of Paimon's partitions: `day=2026-01-01/`, escaped as Paimon does.

Published tables say `partition.legacy-name = false`: values are named as a cast to text writes them. (Paimon's
default names a date by the number of its day.)
"""

import datetime
import decimal
from collections.abc import Sequence
from typing import Any

NULL_NAME = "__DEFAULT_PARTITION__"
_ESCAPED = set("\"#%'*/:=?\\{}[]^") | {chr(code) for code in (*range(32), 127)}


def partition_folder(names: Sequence[str], values: Sequence[Any]) -> str:
    """The folder of a partition below the table's, "" for a table without partitions.

    >>> partition_folder(["day", "shop"], [datetime.date(2026, 1, 2), "a/b"])
    'day=2026-01-02/shop=a%2Fb/'
    """
    return "".join(f"{_escape(name)}={_escape(_text(value))}/" for name, value in zip(names, values, strict=True))


def _text(value: Any) -> str:
    match value:
        case None:
            return NULL_NAME
        case bool():
            return "true" if value else "false"
        case datetime.datetime():
            return f"{value:%Y-%m-%d %H:%M:%S.%f}"
        case datetime.date():
            return value.isoformat()
        case decimal.Decimal():
            return f"{value:f}"
    text = str(value)
    return text if text.strip() else NULL_NAME


def _escape(text: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)
