"""Which data files a Paimon snapshot consists of."""

from typing import Any, TypeAlias

from headwater.errors import CorruptFileError
from headwater.lake.paimon.metadata import ADD, PaimonFiles, PaimonSnapshot

FileKey: TypeAlias = tuple[bytes, int, int, str]
Entry: TypeAlias = dict[str, Any]


def live_files(store: PaimonFiles, snapshot: PaimonSnapshot) -> dict[FileKey, Entry]:
    """The manifest entries of the files that are part of a snapshot.

    RAISES: CorruptFileError when an entry lacks what Paimon writes there.
    """
    live: dict[FileKey, Entry] = {}
    for name in (snapshot.base_manifest_list, snapshot.delta_manifest_list):
        try:
            for manifest in store.read_list(name):
                for entry in store.read_manifest(manifest["_FILE_NAME"]):
                    apply_entry(live, entry)
        except (KeyError, TypeError) as error:
            raise CorruptFileError(f"{name} is not a Paimon manifest list: {error!r} is missing") from error
    return live


def apply_entry(live: dict[FileKey, Entry], entry: Entry) -> None:
    """Let an entry add its file or take it away."""
    file = entry["_FILE"]
    key = (entry["_PARTITION"], entry["_BUCKET"], file["_LEVEL"], file["_FILE_NAME"])
    if entry["_KIND"] == ADD:
        live[key] = entry
    else:
        live.pop(key, None)
