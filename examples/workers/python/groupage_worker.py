"""Works for ``groupage lists worker`` and ``groupage fleet worker``. Python 3.9 or later, no other packages.

    run_jobs(lambda job: deliver(job.payload))           # groupage lists worker LIST -- python3 worker.py

    def work(partition):                                 # groupage fleet worker FLEET … -- python3 worker.py
        position = int(partition.checkpoint or 0)
        while not partition.stopping:
            position = work_on(position)
            partition.store(str(position))
    run_partition(work)

The standard output belongs to the protocol. So ``print``, also that of programs which the handler starts, goes to the
standard error, and their standard input is empty. docs/how-to/workers-in-other-languages.md describes the protocol.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional

# Seconds for which a handler may go on after the parent process has died. Other workers get its job a minute after the
# lease ends, and its partition after six cycles (30 s). With a --cycle below one second, both may work at the same time.
ORPHAN_SECONDS = 5.0
CODE_MAX_BYTES = 128


class JobFailed(Exception):
    """Raise it if the job itself has failed. No worker gets the job again."""

    def __init__(self, code: str, message: str) -> None:
        """``code``: the error for programs, 1 to 128 bytes. ``message``: the error for people."""
        if not 0 < len(code.encode()) <= CODE_MAX_BYTES:
            raise ValueError(f"the code of a failed job must have 1 to {CODE_MAX_BYTES} bytes")
        super().__init__(message)
        self.code = code


class PartitionLost(Exception):
    """Another worker may have the partition: end the work. Do not catch it."""


class Job:
    """A job of a deferred list."""

    def __init__(self, message: dict[str, Any], parent: _Parent) -> None:
        self.list: str = message["list"]
        self.token: int = message["token"]
        self.deliveries: int = message["deliveries"]
        """How often workers got the job, this time included."""
        self.payload: dict[str, Any] = message["payload"]
        self._parent = parent

    @property
    def stopping(self) -> bool:
        """Whether the worker stops, or another worker may have the job. End soon, with a result or an exception."""
        return self._parent.stopping.is_set()

    def alive(self) -> None:
        """Says that the work goes on. A worker that says nothing for ``--timeout`` seconds is killed."""
        self._parent.send({"type": "alive"})


class Partition:
    """A partition of a fleet, while this process works on it."""

    def __init__(self, message: dict[str, Any], parent: _Parent) -> None:
        self.fleet: str = message["fleet"]
        self.id: str = message["partition"]
        self.fence: int = message["fence"]
        """Grows with each owner. Pass it to other stores, so that they can refuse writes of an earlier owner."""
        self.checkpoint: Optional[str] = message["checkpoint"]
        """The last stored checkpoint: the place to continue from."""
        self._parent = parent

    @property
    def stopping(self) -> bool:
        """Whether to end: finish the current unit of work, store a checkpoint and return."""
        return self._parent.stopping.is_set()

    def store(self, checkpoint: str) -> None:
        """Stores how far the work has come, at most 4,096 bytes. Returns when it is stored. Raises PartitionLost."""
        self._parent.send({"type": "checkpoint", "value": checkpoint})
        message = self._parent.receive()
        if message is None or message["type"] != "stored":
            raise PartitionLost(self.id)
        self.checkpoint = checkpoint

    def alive(self) -> None:
        """Says that the work goes on. A worker that says nothing for ``--timeout`` seconds is killed."""
        self._parent.send({"type": "alive"})


def run_jobs(handler: Callable[[Job], Any], alive_every: Optional[float] = None) -> None:
    """Passes jobs to the handler until no more come. Its return value is the job's result, as JSON.

    After an exception other than JobFailed, the job is handed out again, up to the list's ``maxDeliveries``.
    ``alive_every``: seconds after which a thread says that the work goes on. A handler that hangs is then never killed.
    """
    parent = _Parent()
    parent.send({"type": "ready"})
    while (message := parent.receive()) is not None:
        job = Job(message, parent)
        with _alive(parent, alive_every):
            answer = _answer(handler, job)
        parent.send({**answer, "token": job.token})
        parent.is_busy.clear()


def run_partition(handler: Callable[[Partition], Any], alive_every: Optional[float] = None) -> None:
    """Passes one partition to the handler, and returns when the handler has ended. ``alive_every``: see run_jobs.

    After an exception, a new process works on the partition, from the last checkpoint.
    """
    parent = _Parent()
    parent.send({"type": "ready"})
    message = parent.receive()
    if message is None:
        return
    with _alive(parent, alive_every):
        try:
            handler(Partition(message, parent))
        except PartitionLost:
            pass


def _answer(handler: Callable[[Job], Any], job: Job) -> dict[str, Any]:
    try:
        result = handler(job)
    except JobFailed as error:
        return {"type": "failed", "error": {"code": error.code, "message": str(error)}}
    except Exception as error:
        traceback.print_exc()
        return {"type": "retry", "message": f"{type(error).__name__}: {error}"}
    try:
        json.dumps(result, allow_nan=False)
    except (TypeError, ValueError) as error:
        # The job is done. Another delivery would do it again, and give such a result again.
        return {"type": "failed", "error": {"code": "result-not-json", "message": str(error)}}
    return {"type": "done", "result": result}


@contextmanager
def _alive(parent: _Parent, every: Optional[float]) -> Iterator[None]:
    """Says every so many seconds that the work goes on."""
    done = threading.Event()

    def say() -> None:
        while not done.wait(every):
            parent.send({"type": "alive"})

    thread = threading.Thread(target=say, daemon=True)
    if every is not None:
        thread.start()
    try:
        yield
    finally:
        done.set()
        if every is not None:
            thread.join()


class _Parent:
    """The connection to ``groupage … worker``: JSON lines on the standard input and output, which it takes over."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.fdopen(os.dup(1), "wb")
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self.stopping = threading.Event()
        self.is_busy = threading.Event()
        self._messages: queue.Queue[Optional[dict[str, Any]]] = queue.Queue()
        self._sending = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, message: dict[str, Any]) -> None:
        line = json.dumps(message).encode() + b"\n"
        with self._sending:
            try:
                self._out.write(line)
                self._out.flush()
            except OSError:
                # The parent process has died, so a result could not be reported.
                os._exit(1)

    def receive(self) -> Optional[dict[str, Any]]:
        """The next message; None if no more come."""
        return self._messages.get()

    def _read(self) -> None:
        """Reads in a thread of its own, so that a handler sees at once that it should stop."""
        for line in self._in:
            message = json.loads(line)
            if message["type"] == "stop":
                self.stopping.set()
                # Ends the wait for a checkpoint that is not stored any more.
                if message.get("reason") == "lost":
                    self._messages.put(message)
                continue
            if message["type"] in ("job", "partition"):
                self.is_busy.set()
                # A stop that came after the last answer.
                self.stopping.clear()
            self._messages.put(message)
        self.stopping.set()
        self._messages.put(None)
        # The parent closes this input only when no work is under way. Otherwise it has died.
        if self.is_busy.is_set():
            threading.Event().wait(ORPHAN_SECONDS)
            os._exit(1)
