"""A client of the MCP server: the package's own, over the real protocol, called from plain functions."""

import json
import os
import sys
import time
from contextlib import contextmanager
from functools import partial

from anyio.from_thread import start_blocking_portal
from mcp.client.stdio import StdioServerParameters

from mcp import Client


class Assistant:
    """An open connection. `seconds` has how long each question took."""

    def __init__(self, portal, client):
        self._portal, self._client = portal, client
        self.seconds = []

    def tools(self):
        return {each.name: each for each in self._portal.call(self._client.list_tools).tools}

    def call(self, name, /, **arguments):
        """The result of a tool as it came: whether it is an error, and its JSON."""
        start = time.perf_counter()
        result = self._portal.call(partial(self._client.call_tool, name, arguments))
        self.seconds.append((time.perf_counter() - start, name))
        (content,) = result.content
        return bool(result.is_error), json.loads(content.text)

    def ask(self, name, /, **arguments):
        """The answer of a tool, which must be one."""
        failed, answer = self.call(name, **arguments)
        assert not failed, answer
        return answer

    def refused(self, name, /, **arguments):
        """The error of a tool, which must be one of ours."""
        failed, answer = self.call(name, **arguments)
        assert failed, answer
        assert {"code", "message"} <= answer["error"].keys()
        assert "Traceback" not in json.dumps(answer)
        return answer["error"]

    def pages(self, name, limit, items, /, **arguments):
        """Everything that a question gives, page by page: the lists at `items`, one after the other."""
        found, offset = [], 0
        while True:
            answer = self.ask(name, **arguments, offset=offset, limit=limit)
            part = items(answer["data"])
            assert len(part) == answer["shown"] <= limit
            found += part
            if "next_offset" not in answer:
                assert answer["total"] == len(found)
                return found
            assert answer["next_offset"] == offset + len(part) > offset
            offset = answer["next_offset"]


@contextmanager
def connected(target):
    """An assistant at a server: an address, or the parameters of a program that is started."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(target)) as client:
        yield Assistant(portal, client)


def started(lake, *more):
    """The program that serves a warehouse on stdio."""
    arguments = ["-m", "headwater", "mcp", "--warehouse", str(lake), *more]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HEADWATER_")}
    return StdioServerParameters(command=sys.executable, args=arguments, env=clean)
