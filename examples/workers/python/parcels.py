"""Works on the jobs of a list: groupage lists worker LIST -- python3 parcels.py"""

from groupage_worker import Job, JobFailed, run_jobs


def deliver(job: Job) -> dict:
    depot = job.payload.get("depot")
    if depot is None:
        raise JobFailed("no-depot", "the payload has no depot")
    print(f"parcel {job.token} goes to {depot}")
    return {"depot": depot, "delivered": True}


if __name__ == "__main__":
    run_jobs(deliver)
