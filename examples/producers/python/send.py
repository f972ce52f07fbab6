"""Sends tasks from standard input, one register message per line, and prints the ids of the sent tasks.

    python send.py --queue-url URL [--schema ../../../contract/register-message.schema.json] < tasks.jsonl
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import boto3

from producer import Invalid, NotSent, Producer, Task, Validator


def task_of(line: str) -> Task:
    """Parses a line. An unknown field is an error."""
    message = json.loads(line)
    return Task(**{re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower(): value for name, value in message.items()})


def main() -> int:
    parser = argparse.ArgumentParser(description="Sends tasks to Groupage, one per line.")
    parser.add_argument("--queue-url", required=True, help="the register queue")
    parser.add_argument("--schema", type=Path, help="checks each message before it is sent")
    arguments = parser.parse_args()
    # Region, credentials and, for the local stack, AWS_ENDPOINT_URL_SQS come from the environment.
    sqs = boto3.client("sqs")
    validator = Validator(arguments.schema) if arguments.schema else None
    producer = Producer(arguments.queue_url, sqs, validator)
    try:
        for id in producer.send_all(task_of(line) for line in sys.stdin if line.strip()):
            print(id)
    except (Invalid, NotSent, TypeError, json.JSONDecodeError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
