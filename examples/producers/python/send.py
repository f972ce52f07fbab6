"""Sends tasks from standard input, one register message per line, and prints the ids of the sent tasks.

    python send.py --queue-url URL [--schema ../../../contract/register-message.schema.json] < tasks.jsonl

Lines are sent as written; only missing ids are added. A line that cannot be sent is reported and skipped, and the exit
code is 1.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from producer import Producer, Refused, Text, Validator


def lines() -> Iterator[Text]:
    # Only line feeds end a line. Bytes that are not UTF-8 become characters that the producer refuses.
    source = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="surrogateescape", newline="\n")
    for number, line in enumerate(source, 1):
        if line.strip():
            yield Text(line.removesuffix("\n"), number)


def main() -> int:
    parser = argparse.ArgumentParser(description="Sends tasks to Groupage, one per line.")
    parser.add_argument("--queue-url", required=True, help="the register queue")
    parser.add_argument("--schema", type=Path, help="checks each message before it is sent")
    arguments = parser.parse_args()
    # Region, credentials and, for the local stack, AWS_ENDPOINT_URL_SQS come from the environment.
    sqs = boto3.client("sqs")
    validator = Validator(arguments.schema) if arguments.schema else None
    producer = Producer(arguments.queue_url, sqs, validator)
    status = 0
    sent = 0
    try:
        for outcome in producer.outcomes(lines()):
            if isinstance(outcome, Refused):
                print(f"line {outcome.task.line}: {outcome.reason}", file=sys.stderr)
                status = 1
            else:
                print(outcome.id)
                sent = outcome.task.line
    except (BotoCoreError, ClientError) as error:
        print(f"stopped: a request with lines after line {sent} failed: {error}", file=sys.stderr)
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
