"""Sends tasks to Groupage. Each task is a message on the register queue of a deployment.

    producer = Producer(queue_url, boto3.client("sqs"))
    producer.send(Task("distribute-parcels", {"carrier": "DHL", "depot": "MUC"}, id="order-7"))

The schema of a message is ``contract/register-message.schema.json``.
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

# Limits of SQS for one request: messages, and bytes of all messages.
BATCH_MESSAGES = 10
BATCH_BYTES = 1_048_576
# Sends of a message, including the first. The pauses between them double, and add up to about three seconds.
TRIES = 6
FIRST_PAUSE = 0.1


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """Optional fields of a task."""

    id: str | None = None
    """Identifies the task: messages with the same id are one task. Generated if absent."""
    correlation_id: str | None = None
    priority: int | None = None
    weight: float | None = None
    coalesce_key: str | None = None
    expires_in: str | None = None
    callback: str | None = None
    fan_out_item: str | None = None


@dataclass(frozen=True)
class Task(TaskOptions):
    """One unit of work: an operation of the deployment's configuration, and its payload."""

    operation: str
    payload: Mapping[str, Any]

    def message(self) -> dict[str, Any]:
        """The register message."""
        options = {camel_case(field.name): getattr(self, field.name) for field in fields(TaskOptions)}
        return {
            "operation": self.operation,
            "payload": dict(self.payload),
            **{name: value for name, value in options.items() if value is not None},
        }


def camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


class Sqs(Protocol):
    """The part of boto3's client that the producer uses."""

    def send_message_batch(self, *, QueueUrl: str, Entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]: ...


class Invalid(ValueError):
    """An invalid task. No task of its batch, and none after it, was sent."""

    def __init__(self, id: str, reasons: Sequence[str]) -> None:
        super().__init__(f"task {id}: {'; '.join(reasons)}")
        self.id = id
        self.reasons = reasons


class NotSent(RuntimeError):
    """SQS refused some tasks, by their ids. Sending them again is safe: a task that SQS did accept stays one task."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"task {id}: {reason}" for id, reason in reasons.items()))
        self.reasons = reasons


class Validator:
    """Validates messages before they are sent. Needs the package ``jsonschema``."""

    def __init__(self, schema: Path) -> None:
        from jsonschema import Draft202012Validator

        self._validator = Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))

    def reasons(self, message: Mapping[str, Any]) -> list[str]:
        """All problems with their paths; empty for a valid message."""
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
        """Sends a task and returns its id. Raises Invalid or NotSent."""
        (id,) = self.send_all([task])
        return id

    def send_all(self, tasks: Iterable[Task]) -> Iterator[str]:
        """Sends tasks in few requests while it reads them. Yields the id of each task once SQS has accepted it.

        Raises Invalid or NotSent for a batch. Tasks whose ids were yielded before were sent.
        """
        for messages in batches(self._message(task) for task in tasks):
            self._send_batch(messages)
            yield from (message.id for message in messages)

    def _message(self, task: Task) -> _Message:
        # The id makes repeated sends one task.
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
            # boto3 retries a request that fails as a whole, and then raises. A successful request may still have failed
            # messages.
            failed = self._sqs.send_message_batch(QueueUrl=self._queue_url, Entries=entries).get("Failed", [])
            reasons = {messages[int(each["Id"])].id: f"{each['Code']} {each.get('Message', '')}" for each in failed}
            open_messages = {int(each["Id"]): messages[int(each["Id"])] for each in failed}
            # A sender's fault cannot be fixed by a retry.
            if not failed or all(each["SenderFault"] for each in failed):
                break
        if reasons:
            raise NotSent(reasons)


def batches(messages: Iterable[_Message]) -> Iterator[list[_Message]]:
    """Groups messages by the limits of one request."""
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
