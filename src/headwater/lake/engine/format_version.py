"""What to do with a file of a later format than this program knows: refuse it, and say why."""

from headwater.errors import CorruptFileError


def check_format_version(path: str, version: int, known: int) -> None:
    """RAISES: CorruptFileError when a file was written by a later Headwater in a format of its own."""
    if version > known:
        raise CorruptFileError(
            f"{path} has format version {version}, this program knows up to {known}",
            hint="install a later Headwater",
        )
