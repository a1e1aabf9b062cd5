"""Row keys: encoded so that byte order is key order, one at a time and by the column."""

from headwater.lake.engine.keys.codec import KeyCodec, RowKey
from headwater.lake.engine.keys.columns import (
    BytesKeys,
    Keys,
    NativeKey,
    NumberKeys,
    as_bytes,
    concat_keys,
    keys_of,
)

__all__ = ["BytesKeys", "KeyCodec", "Keys", "NativeKey", "NumberKeys", "RowKey", "as_bytes", "concat_keys", "keys_of"]
