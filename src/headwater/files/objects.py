"""Files in an object store: S3, Google Cloud Storage, Azure Blob, through obstore.
Objects are whole or absent by nature, and `put_if_absent` is the store's own conditional write, so nothing is renamed
and nothing is locked. One case is left to the caller: when the reply to a conditional write is lost on the network,
the retry finds our own object and reports it as somebody else's; a caller that must know writes something unique and
reads it back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headwater.errors import (
    AlreadyExistsError,
    HeadwaterError,
    NotFoundError,
    NotWritableError,
    StorageError,
)
from headwater.extras import need
from headwater.files.protocol import Data, FileEntry, check_folder, check_path, pieces
from headwater.lazy import LazyModule
from headwater.text import without_secrets

obstore: Any = LazyModule("obstore")


class ObjectFiles:
    """A store in a bucket, below a prefix. `options` are obstore's configuration keys (`region`, `endpoint`,
    `access_key_id`, …) and win over the environment (`AWS_*`, `GOOGLE_*`, `AZURE_*`). An `endpoint` that begins with
    `http://` is used as it is, for stores on one's own machine."""

    def __init__(self, url: str, options: dict[str, str] | None = None) -> None:
        need("obstore.store")
        self.url = url.rstrip("/")
        self._options = options = dict(options or {})
        plain = options.get("endpoint", "").startswith("http://")
        with _wrapped("open", url):
            self._store = obstore.store.from_url(
                self.url, config=options, client_options={"allow_http": True} if plain else None
            )

    def __repr__(self) -> str:
        return f"ObjectFiles({self.url!r})"

    def __reduce__(self) -> tuple[type["ObjectFiles"], tuple[str, dict[str, str]]]:
        """A pickle carries the options, with whatever keys they hold; the environment is that of the other side."""
        return ObjectFiles, (self.url, self._options)

    def get(self, path: str) -> bytes:
        with _wrapped("read", self._name(path)):
            return bytes(obstore.get(self._store, path).bytes())

    def get_range(self, path: str, start: int, length: int) -> bytes:
        if length <= 0:
            return b""
        with _wrapped("read", self._name(path)):
            if start < 0:
                tail = obstore.get(self._store, path, options={"range": {"suffix": -start}})
                return bytes(tail.bytes())[:length]
            try:
                return bytes(obstore.get_range(self._store, path, start=start, length=length))
            except obstore.exceptions.BaseError:
                if start >= obstore.head(self._store, path)["size"]:
                    return b""  # the stores refuse a range that begins at the end or after it
                raise

    def put(self, path: str, data: Data, *, synced: bool = True) -> None:
        with _wrapped("write", self._name(path)):
            obstore.put(self._store, path, b"".join(pieces(data)))

    def put_if_absent(self, path: str, data: Data) -> None:
        with _wrapped("write", self._name(path)):
            obstore.put(self._store, path, b"".join(pieces(data)), mode="create", use_multipart=False)

    def list(self, folder: str = "", *, deep: bool = False) -> list[FileEntry]:
        folder = check_folder(folder)
        with _wrapped("list", f"{self.url}/{folder}"):
            if deep:
                found = [_entry(meta) for page in obstore.list(self._store, folder or None) for meta in page]
            else:
                level = obstore.list_with_delimiter(self._store, folder or None)
                found = [_entry(meta) for meta in level["objects"]]
                found += [FileEntry(f"{prefix}/") for prefix in level["common_prefixes"]]
        return sorted(found, key=lambda entry: entry.path)

    def delete(self, path: str) -> None:
        try:
            with _wrapped("delete", self._name(path)):
                obstore.delete(self._store, path)
        except NotFoundError:  # some stores mind, ours do not
            return

    def _name(self, path: str) -> str:
        return f"{self.url}/{check_path(path)}"


def _entry(meta: Any) -> FileEntry:
    return FileEntry(meta["path"], meta["size"], meta["last_modified"].timestamp())


@contextmanager
def _wrapped(verb: str, name: str) -> Iterator[None]:
    """Turn obstore's errors into ours."""
    try:
        yield
    except HeadwaterError:
        raise
    except FileNotFoundError as err:
        raise NotFoundError(f"there is no object {name}") from err
    except obstore.exceptions.AlreadyExistsError as err:
        raise AlreadyExistsError(f"{name} already exists") from err
    except (obstore.exceptions.PermissionDeniedError, obstore.exceptions.UnauthenticatedError) as err:
        kind = StorageError if verb in ("read", "list") else NotWritableError
        raise kind(
            f"cannot {verb} {name}: access denied", hint="check the credentials and the bucket policy"
        ) from err
    except (obstore.exceptions.BaseError, OSError, ValueError) as err:
        reason = without_secrets(str(err).partition("\n")[0])
        raise StorageError(f"cannot {verb} {name}: {reason}", hint="check endpoint, region and network") from err
