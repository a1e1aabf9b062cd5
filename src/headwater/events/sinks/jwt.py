"""A token that is fetched with an API key, as OpenLineage's transport `http` does with `auth.type` `jwt`."""

import time
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

from headwater.errors import ConfigError

_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class JwtToken:
    """Gives a token, which is kept until shortly before it expires; one that does not say when is fetched anew."""

    def __init__(self, auth: Mapping[str, Any]) -> None:
        self._auth, self._token, self._until = auth, "", 0.0
        if urlsplit(str(auth.get("tokenEndpoint"))).scheme not in ("http", "https") or not auth.get("apiKey"):
            raise ConfigError("`transport.auth` of type jwt needs `apiKey` and `tokenEndpoint`, an http(s) address")

    def __call__(self) -> str:
        """The token. RAISES: OSError when there is none to be had."""
        if time.time() + float(self._auth.get("tokenRefreshBuffer", 120)) >= self._until:
            self._fetch()
        return self._token

    def _fetch(self) -> None:
        auth = self._auth
        form = {"apikey": auth["apiKey"], "grant_type": auth.get("grantType", _GRANT)}
        body = urlencode(form | {"response_type": auth.get("responseType", "token")}).encode()
        request = urllib.request.Request(str(auth["tokenEndpoint"]), body, {"Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            found = {_plain(name): value for name, value in msgspec.json.decode(answer.read(), type=dict).items()}
        named = [found.get(_plain(name)) for name in auth.get("tokenFields", ("token", "access_token"))]
        self._token = next((str(each) for each in named if each), "")
        if not self._token:
            raise OSError("the answer of the token endpoint has no token")
        self._until = time.time() + float(found.get(_plain(auth.get("expiresInField", "expires_in")), 0))


def _plain(name: object) -> str:
    """A field's name without regard to how it is written: `expires_in`, `expiresIn`."""
    return str(name).replace("_", "").lower()
