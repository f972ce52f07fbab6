"""Counts, partition by partition: groupage fleet worker FLEET --partitions 4 -- python3 flights.py"""

import time

from groupage_worker import Partition, run_partition


def count(partition: Partition) -> None:
    position = int(partition.checkpoint or 0)
    print(f"partition {partition.id} goes on at {position}")
    while not partition.stopping:
        time.sleep(1)  # A unit of work. It must be idempotent: after a crash, it is done again.
        position += 1
        partition.store(str(position))


if __name__ == "__main__":
    run_partition(count)
