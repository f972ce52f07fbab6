"""Sends tasks to Groupage. Each task is a message on the register queue of a deployment.

    producer = Producer(queue_url, boto3.client("sqs"))
    producer.send(Task("distribute-parcels", {"carrier": "DHL", "depot": "MUC"}, id="order-7"))

The schema of a message is ``contract/register-message.schema.json``.
"""

from __future__ import annotations

import json
import random
import re
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
REFUSED_BY_SQS = re.compile("[^\\t\\n\\r\\u0020-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


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


@dataclass(frozen=True)
class Text:
    """A register message as JSON text. It is sent as written; only a missing id is added."""

    json: str
    line: int | None = None
    """Where the text comes from. The producer does not use it."""


@dataclass(frozen=True)
class Sent:
    """SQS has accepted the task."""

    task: Task | Text
    id: str


@dataclass(frozen=True)
class Refused:
    """The task is invalid, or SQS refused it. Sending it again is safe: a task that SQS did accept stays one task."""

    task: Task | Text
    id: str | None
    reason: str


class NotSent(RuntimeError):
    """Some tasks were not sent. All others were."""

    def __init__(self, refused: Sequence[Refused]) -> None:
        super().__init__("; ".join(f"task {each.id}: {each.reason}" for each in refused))
        self.refused = refused


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
    task: Task | Text
    id: str
    body: str


class Producer:
    """Sends tasks to one register queue."""

    def __init__(self, queue_url: str, sqs: Sqs, validator: Validator | None = None) -> None:
        self._queue_url = queue_url
        self._sqs = sqs
        self._validator = validator

    def send(self, task: Task | Text) -> str:
        """Sends a task and returns its id. Raises NotSent."""
        (id,) = self.send_all([task])
        return id

    def send_all(self, tasks: Iterable[Task | Text]) -> Iterator[str]:
        """Sends tasks in few requests while it reads them. Yields the id of each task once SQS has accepted it.

        Raises NotSent at the end, after all other tasks were sent. An error of boto3 ends it at once.
        """
        refused = []
        for outcome in self.outcomes(tasks):
            if isinstance(outcome, Sent):
                yield outcome.id
            else:
                refused.append(outcome)
        if refused:
            raise NotSent(refused)

    def outcomes(self, tasks: Iterable[Task | Text]) -> Iterator[Sent | Refused]:
        """Like send_all, but yields the refused tasks too, as soon as they are known."""
        batch: list[_Message] = []
        size = 0
        for task in tasks:
            message = self._message(task)
            if isinstance(message, Refused):
                yield message
                continue
            length = len(message.body.encode())
            if batch and (len(batch) == BATCH_MESSAGES or size + length > BATCH_BYTES):
                yield from self._send_batch(batch)
                batch, size = [], 0
            batch.append(message)
            size += length
        if batch:
            yield from self._send_batch(batch)

    def _message(self, task: Task | Text) -> _Message | Refused:
        # The id makes repeated sends one task.
        id = str(uuid.uuid4())
        try:
            if isinstance(task, Task):
                id = id if task.id is None else task.id
                message = {**task.message(), "id": id}
                body = json.dumps(message, allow_nan=False, separators=(",", ":"))
            else:
                message, body = parsed(task.json), task.json
                if "id" not in message:
                    body = body.replace("{", f'{{"id":"{id}"' + (", " if message else ""), 1)
                id = str(message.setdefault("id", id))
            reasons = self._validator.reasons(message) if self._validator else []
        except (TypeError, ValueError, RecursionError) as error:
            return Refused(task, None if isinstance(task, Text) else id, str(error))
        found = REFUSED_BY_SQS.search(body)
        if found:
            reasons.append(f"SQS refuses the character U+{ord(found[0]):04X}: write it as an escape, and text as UTF-8")
        elif len(body.encode()) > BATCH_BYTES:
            reasons.append(f"the message has {len(body.encode())} bytes, and SQS accepts {BATCH_BYTES}")
        return Refused(task, id, "; ".join(reasons)) if reasons else _Message(task, id, body)

    def _send_batch(self, messages: Sequence[_Message]) -> Iterator[Sent | Refused]:
        open_messages = dict(enumerate(messages))
        reasons: dict[int, str] = {}
        for attempt in range(TRIES):
            if attempt > 0:
                time.sleep(FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1))
            entries = [{"Id": str(n), "MessageBody": message.body} for n, message in open_messages.items()]
            # boto3 retries a request that fails as a whole, and then raises. A successful request may still have failed
            # messages.
            failed = self._sqs.send_message_batch(QueueUrl=self._queue_url, Entries=entries).get("Failed", [])
            for n in open_messages:
                reasons.pop(n, None)
            reasons |= {int(each["Id"]): f"{each['Code']} {each.get('Message', '')}".strip() for each in failed}
            # A sender's fault cannot be fixed by a retry.
            open_messages = {int(each["Id"]): messages[int(each["Id"])] for each in failed if not each["SenderFault"]}
            if not open_messages:
                break
        for n, message in enumerate(messages):
            yield Refused(message.task, message.id, reasons[n]) if n in reasons else Sent(message.task, message.id)


def parsed(text: str) -> dict[str, Any]:
    """Parses a register message, to check it and to find its id. Raises ValueError."""

    def constant(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    # Python refuses to convert integers of more than 4,300 digits. The number is sent as written in any case.
    def integer(digits: str) -> float:
        return int(digits) if len(digits) < 1_000 else float(digits)

    message = json.loads(text, parse_constant=constant, parse_int=integer)
    if not isinstance(message, dict):
        raise ValueError("a register message is a JSON object")
    return message
