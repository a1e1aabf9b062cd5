"""The options of a server."""

from dataclasses import dataclass, field
from ipaddress import ip_address

from headwater.errors import UsageError
from headwater.query.sandbox import ReadLimits


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one request and of one client."""

    body: int = 32 << 20  # bytes of one request
    seconds: float = 30.0  # to send a request, and to answer one
    reads: float = 100.0  # requests a second of one client, and four times as many at once
    events: float = 5_000.0
    queries: float = 5.0  # of SQL
    tables: int = 400  # in one picture
    sql: ReadLimits = field(default_factory=lambda: ReadLimits(rows=1_000))


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The address of a server, its warehouse, and its access rules.
    Without a token a server answers this machine alone."""

    warehouse: str
    host: str = "127.0.0.1"
    port: int = 8420
    token: str | None = field(default=None, repr=False)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """RAISES: UsageError."""
        if not self.is_local and not self.token:
            raise UsageError(
                f"whoever reaches {self.host} could read the warehouse",
                hint="name a token with --token or HEADWATER_TOKEN, or stay on 127.0.0.1",
            )
        if self.token is not None and (len(self.token) < 8 or not self.token.isascii()):
            raise UsageError("a token has at least 8 plain characters")

    @property
    def is_local(self) -> bool:
        """Return whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        """The address to open in a browser."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"http://[{host}]:{self.port}/" if ":" in host else f"http://{host}:{self.port}/"
