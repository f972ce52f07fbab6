"""Requests that end something go to data of their own, so that the others still find what the examples name."""
from itertools import cycle
from urllib.parse import quote, unquote

import schemathesis

KEPT = {
    "01KDVY3C5ZKQ",
    "sealed",
    "spring",
    "cancelled",
    "worker-1.10.100.YipJTT",
    "distribute-parcels/carrier=DHL/depot=MUC#1#1",
    "send-digest#1#1",
}
SPARE = {
    "DELETE /fan-outs/{id}": ("id", "deleted"),
    "POST /fan-outs/{id}/seal": ("id", "sealed"),
    "DELETE /lists/{id}": ("id", "deleted"),
    "POST /lists/{id}/seal": ("id", "sealed"),
    "POST /lists/{id}/cancel": ("id", "cancelled"),
    "POST /lists/{id}/claims/{claim}/release": ("claim", "worker-2.110.100.YipJTT"),
    "PUT /lists/{id}/claims/{claim}": ("claim", "worker-3.210.100.YipJTT"),
}
DIGESTS = cycle(range(1, 31))


# The coverage phase adds this cursor to each request. No call returned it, so each request would be refused for it.
MADE_UP = "0"


@schemathesis.hook
def before_call(ctx, case, kwargs):
    for fields in (case.query, case.body):
        if isinstance(fields, dict) and fields.get("cursor") == MADE_UP:
            del fields["cursor"]
    name, spare = SPARE.get(case.operation.label, ("id", None))
    if case.operation.label == "POST /batches/{id}/complete":
        spare = batch_for(case.body)
    if spare is not None and unquote(str(case.path_parameters.get(name))) in KEPT:
        case.path_parameters[name] = quote(spare, safe="")


def batch_for(report):
    """A report without results ends its batch. The batch of the example stays open, since the example leaves out a task."""
    if isinstance(report, dict) and report.get("inputs"):
        return "downsample#1#1"
    if isinstance(report, dict) and report.get("results"):
        return "distribute-parcels/carrier=DHL/depot=MUC#1#1"
    return f"send-digest#1#{next(DIGESTS)}"
