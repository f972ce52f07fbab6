"""The same as worker.mjs, with the library."""

import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "workers" / "python"))
from groupage_worker import Job, JobFailed, Partition, run_jobs, run_partition  # noqa: E402

FOLDER = Path(os.environ.get("TEST_FOLDER", "."))


def note(text: str) -> None:
    with open(FOLDER / "notes", "a") as notes:
        notes.write(f"{text}\n")


def work(job: Job):
    payload = job.payload
    what = payload["do"]
    if what == "echo":
        return {"n": payload["n"], "deliveries": job.deliveries}
    if what == "fail":
        raise JobFailed("no-depot", "no such depot: Zürich")
    if what == "throw":
        raise RuntimeError("out of luck")
    if what == "die":
        os._exit(3)
    if what == "last":
        threading.Timer(0.1, os._exit, [0]).start()
        return {"n": payload["n"], "deliveries": job.deliveries}
    if what == "quits":
        note(f"began {payload['n']}")
        os._exit(0)
    if what == "silent":
        time.sleep(60)
    if what == "slow":
        note(f"began {payload['n']}")
        time.sleep(payload["ms"] / 1000)
        note(f"ended {payload['n']}{' stopping' if job.stopping else ''}")
        return {"slow": payload["n"], "stopped": job.stopping}
    if what == "alive":
        for _ in range(12):
            time.sleep(0.6)
            job.alive()
        return "still alive"
    print("a line for people")
    return "printed"


def work_on(partition: Partition) -> None:
    position = int(partition.checkpoint or 0)
    who = f"{os.getpid()} {partition.id} {partition.fence}"
    note(f"{who} from {position}")
    if partition.id == "ends":
        return
    once = FOLDER / f"{partition.id}-once"
    while not partition.stopping:
        time.sleep(0.05)
        if position >= 5 and partition.id in ("dies", "silent") and not once.exists():
            once.touch()
            if partition.id == "dies":
                os._exit(3)
            time.sleep(60)
        position += 1
        partition.store(str(position))
    note(f"{who} to {position}")


note(f"pid {os.getpid()}")
if sys.argv[1] == "jobs":
    run_jobs(work)
else:
    run_partition(work_on)
