"""Sends tasks to Groupage: each is one message on the register queue of a deployment.

    producer = Producer(queue_url, boto3.client("sqs"))
    producer.send(Task("distribute-parcels", {"carrier": "DHL", "depot": "MUC"}, id="order-7"))

What a message may have is in ``contract/register-message.schema.json``.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

# What SQS takes as one request: so many messages, and so many bytes of them together.
BATCH_MESSAGES = 10
BATCH_BYTES = 1_048_576
# Tries of a message, the first one included. The pauses between them double, and come to some three seconds.
TRIES = 6
FIRST_PAUSE = 0.1


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What a task may ask for beyond the work itself."""

    id: str | None = None
    """Names the task: another one with this id is the same task. Made up if there is none."""
    correlation_id: str | None = None
    priority: int | None = None
    weight: float | None = None
    coalesce_key: str | None = None
    expires_in: str | None = None
    callback: str | None = None
    fan_out_item: str | None = None


@dataclass(frozen=True)
class Task(Wishes):
    """One unit of work: an operation of the deployment's configuration, and what it is about."""

    operation: str
    payload: Mapping[str, Any]

    def message(self) -> dict[str, Any]:
        """The register message."""
        wishes = {camel_case(field.name): getattr(self, field.name) for field in fields(Wishes)}
        return {
            "operation": self.operation,
            "payload": dict(self.payload),
            **{name: value for name, value in wishes.items() if value is not None},
        }


def camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


class Sqs(Protocol):
    """What is used of boto3's client."""

    def send_message_batch(self, *, QueueUrl: str, Entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]: ...


class Invalid(ValueError):
    """A task that would be refused. Nothing was sent of the tasks that came with it in one batch, or after it."""

    def __init__(self, id: str, reasons: Sequence[str]) -> None:
        super().__init__(f"task {id}: {'; '.join(reasons)}")
        self.id = id
        self.reasons = reasons


class NotSent(RuntimeError):
    """SQS did not take some tasks, by their ids. They may be sent again: those that it took after all stay one task."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"task {id}: {reason}" for id, reason in reasons.items()))
        self.reasons = reasons


class Validator:
    """Says what is wrong with messages before they are sent. Needs the package ``jsonschema``."""

    def __init__(self, schema: Path) -> None:
        from jsonschema import Draft202012Validator

        self._validator = Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))

    def reasons(self, message: Mapping[str, Any]) -> list[str]:
        """Everything that is wrong, each with its place; nothing where all is right."""
        return [f"{error.json_path} {error.message}" for error in self._validator.iter_errors(message)]


@dataclass(frozen=True)
class _Message:
    id: str
    body: str


class Producer:
    """Sends tasks to one register queue."""

    def __init__(self, queue_url: str, sqs: Sqs, validator: Validator | None = None) -> None:
        self._queue_url = queue_url
        self._sqs = sqs
        self._validator = validator

    def send(self, task: Task) -> str:
        """Sends a task, and answers its id. Raises Invalid or NotSent."""
        (id,) = self.send_all([task])
        return id

    def send_all(self, tasks: Iterable[Task]) -> Iterator[str]:
        """Sends any number of tasks, as they are read, in few requests; answers the id of each once it was taken.

        Raises Invalid or NotSent for a batch: what was answered before was sent.
        """
        for messages in batches(self._message(task) for task in tasks):
            self._send_batch(messages)
            yield from (message.id for message in messages)

    def _message(self, task: Task) -> _Message:
        # With an id of its own a task stays one task, however often it is sent.
        id = str(uuid.uuid4()) if task.id is None else task.id
        message = {**task.message(), "id": id}
        reasons = self._validator.reasons(message) if self._validator else []
        if reasons:
            raise Invalid(id, reasons)
        return _Message(id, json.dumps(message, allow_nan=False, separators=(",", ":")))

    def _send_batch(self, messages: Sequence[_Message]) -> None:
        open_messages = dict(enumerate(messages))
        reasons: dict[str, str] = {}
        for attempt in range(TRIES):
            if attempt > 0:
                time.sleep(FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1))
            entries = [{"Id": str(n), "MessageBody": message.body} for n, message in open_messages.items()]
            # A request that fails as a whole was tried again by boto3, and raises. One that succeeds may have failed
            # for some of its messages.
            failed = self._sqs.send_message_batch(QueueUrl=self._queue_url, Entries=entries).get("Failed", [])
            reasons = {messages[int(each["Id"])].id: f"{each['Code']} {each.get('Message', '')}" for each in failed}
            open_messages = {int(each["Id"]): messages[int(each["Id"])] for each in failed}
            # What is the sender's fault stays so.
            if not failed or all(each["SenderFault"] for each in failed):
                break
        if reasons:
            raise NotSent(reasons)


def batches(messages: Iterable[_Message]) -> Iterator[list[_Message]]:
    """As many at a time as one request takes."""
    batch: list[_Message] = []
    size = 0
    for message in messages:
        length = len(message.body.encode())
        if batch and (len(batch) == BATCH_MESSAGES or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += length
    if batch:
        yield batch
