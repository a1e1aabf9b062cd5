"""Any transport of the `openlineage-python` client as a sink: Kafka, Datadog, GCP, …"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from headwater.errors import ConfigError
from headwater.events.event import Event, encode
from headwater.events.sinks.sink import Buffered, Delivery
from headwater.extras import need
from headwater.text import without_secrets


class TransportSink(Buffered):
    """Gives events to a transport configured as that client's documentation says (`{"type": "kafka", …}`)."""

    def __init__(self, config: Mapping[str, Any], *, capacity: int = 10_000, retries: int = 5) -> None:
        super().__init__(capacity=capacity, retries=retries)
        factory = need("openlineage.client.transport").get_default_factory()
        try:
            self._transport = factory.create(dict(config))
        except Exception as error:  # the client raises whatever its configuration classes do
            said = without_secrets(str(error))
            for value in _texts(config):  # some errors tell all that they were given
                said = said.replace(value, "***")
            raise ConfigError(f"the OpenLineage client does not take this transport: {said}") from None

    def deliver(self, batch: Sequence[Event]) -> None:
        for event in batch:
            self._transport.emit(_client_event(msgspec.json.decode(encode(event))))

    def close(self, timeout: float = 10.0) -> Delivery:
        delivery = super().close(timeout)
        self._transport.close(timeout)
        return delivery


def _texts(config: Any) -> Iterator[str]:
    """The texts in a configuration, however deep, but for the kind of the transport."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _texts(value)
        elif isinstance(value, str) and value and name != "type":
            yield value


def _client_event(plain: dict[str, Any]) -> Any:
    """An event's JSON as the client's own class, which is what its transports serialise; facets stay mappings."""
    event_v2: Any = need("openlineage.client.event_v2")
    head = {"eventTime": plain["eventTime"], "producer": plain["producer"]}
    if "dataset" in plain:
        return event_v2.DatasetEvent(**head, dataset=event_v2.StaticDataset(**plain["dataset"]))
    ends = {
        "job": event_v2.Job(**plain["job"]),
        "inputs": [event_v2.InputDataset(**one) for one in plain.get("inputs", ())],
        "outputs": [event_v2.OutputDataset(**one) for one in plain.get("outputs", ())],
    }
    if "run" not in plain:
        return event_v2.JobEvent(**head, **ends)
    state = plain.get("eventType")
    return event_v2.RunEvent(
        **head, **ends, run=event_v2.Run(**plain["run"]), eventType=event_v2.RunState(state) if state else None
    )
