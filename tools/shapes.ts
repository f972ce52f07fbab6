/** What the API's answers hold, as far as the command line shows them, and what its commands share. */
import * as z from 'zod';

/** Options that every command takes. */
export interface CommonOptions {
  readonly api?: string;
  readonly stack?: string;
  readonly json?: boolean;
}

export const TASK = z.looseObject({
  id: z.string(),
  operation: z.string(),
  target: z.string(),
  status: z.enum(['created', 'batched', 'in-progress', 'succeeded', 'failed']),
  batchId: z.string().optional(),
  attempts: z.number(),
  nextAttemptAfter: z.string().optional(),
  lastReason: z.string().optional(),
  waitsFor: z.looseObject({ reason: z.string(), text: z.string() }).optional(),
  correlationId: z.string().optional(),
  priority: z.number().optional(),
  weight: z.number().optional(),
  coalesceKey: z.string().optional(),
  version: z.number().optional(),
  callback: z.string().optional(),
  fanOutItem: z.string().optional(),
  startBy: z.string().optional(),
  supersededBy: z.string().optional(),
  createdAt: z.string(),
  finishedAt: z.string().optional(),
  error: z.looseObject({ code: z.string(), message: z.string(), retriable: z.boolean() }).optional(),
  resultOmitted: z.looseObject({ bytes: z.number() }).optional(),
});
export type TaskShape = z.infer<typeof TASK>;

export const BATCH = z.looseObject({
  id: z.string(),
  target: z.string(),
  status: z.string(),
  sealedBy: z.string(),
  size: z.number(),
  fill: z.number().optional(),
  attempt: z.number(),
  counts: z.looseObject({ succeeded: z.number(), failed: z.number() }).optional(),
  createdAt: z.string(),
});
export type BatchShape = z.infer<typeof BATCH>;

const PAUSE = z.looseObject({
  by: z.string(),
  since: z.string(),
  until: z.string().optional(),
  reason: z.string().optional(),
});
export type PauseShape = z.infer<typeof PAUSE>;

export const TARGET = z.looseObject({
  target: z.string(),
  operation: z.string(),
  waiting: z.number(),
  waitingIsAtLeast: z.boolean().optional(),
  oldestAt: z.string().optional(),
  leader: z.looseObject({ fence: z.number(), lockedUntil: z.string() }).nullable(),
  openBatch: z.string().optional(),
  paused: PAUSE.optional(),
  blocked: z.looseObject({ since: z.string() }).optional(),
  inFlight: z.array(z.string()).optional(),
});
export type TargetShape = z.infer<typeof TARGET>;

const OPERATION = z.looseObject({
  operation: z.string(),
  paused: PAUSE.optional(),
  circuit: z.string().nullable(),
  failures: z.number(),
  lateAfterSeconds: z.number().optional(),
  slots: z.looseObject({ taken: z.number(), total: z.number() }).optional(),
  waitingTargets: z.number(),
  waitingTargetsIsAtLeast: z.boolean().optional(),
});
export type OperationShape = z.infer<typeof OPERATION>;
export const OPERATIONS = z.looseObject({ operations: z.array(OPERATION) });

/** What pausing and resuming answer, of an operation or of a Target. */
export const PAUSED = z.looseObject({ alreadyPaused: z.boolean() });
export const RESUMED = z.looseObject({ resuming: z.boolean() });

export const FLUSHED = z.looseObject({ target: z.string(), waiting: z.number() });

/** What registering answers. */
export const REGISTERED = z.looseObject({ ids: z.array(z.string()) });

const SKIPPED = z.looseObject({ id: z.string(), reason: z.string() });
export type SkippedShape = z.infer<typeof SKIPPED>;

/** What asking for redrives answers. */
export const TASKS_REDRIVEN = z.looseObject({
  redriven: z.number(),
  skipped: z.array(SKIPPED),
  cursor: z.string().optional(),
});
export const LETTERS_REDRIVEN = TASKS_REDRIVEN.extend({ left: z.number() });

export const DEAD_LETTERS = z.looseObject({
  queues: z.array(z.looseObject({ queue: z.string(), messages: z.number() })),
});

/** Failed tasks with one cause, among those that a page looked at. */
const FAILURE_GROUP = z.looseObject({
  key: z.string(),
  operation: z.string(),
  code: z.string(),
  cause: z.string(),
  message: z.string(),
  tasks: z.number(),
  targets: z.number(),
  ids: z.array(z.string()),
});
export type FailureGroupShape = z.infer<typeof FAILURE_GROUP>;
export const FAILURES = z.looseObject({
  groups: z.array(FAILURE_GROUP),
  looked: z.number(),
  cursor: z.string().optional(),
});

const FINDING = z.looseObject({
  finding: z.string(),
  operation: z.string(),
  target: z.string(),
  since: z.string(),
  batchId: z.string().optional(),
  tasksWait: z.boolean().optional(),
  repaired: z.boolean().optional(),
  remedy: z.string().optional(),
  reason: z.string().optional(),
});
export type FindingShape = z.infer<typeof FINDING>;

/** A stack that was deployed with an earlier version skips nothing: it fails. */
const FOUND = {
  findings: z.array(FINDING),
  skipped: z.array(SKIPPED).default([]),
  cursor: z.string().optional(),
};
/** A page of what the doctor looks at. */
export const TARGETS_EXAMINED = z.looseObject({ targets: z.array(z.string()), ...FOUND });
export const BATCHES_EXAMINED = z.looseObject({ batches: z.number(), ...FOUND });

export const FAN_OUT = z.looseObject({
  id: z.string(),
  status: z.enum(['open', 'sealed', 'complete', 'expired']),
  total: z.number(),
  succeeded: z.number().optional(),
  failed: z.number(),
  pending: z.number().optional(),
  countsAreAtLeast: z.boolean().optional(),
  userKey: z.string().optional(),
  callback: z.string().optional(),
  failFast: z.union([z.looseObject({ count: z.number() }), z.looseObject({ share: z.number() })]).optional(),
  because: z.string().optional(),
  createdAt: z.string(),
  endedAt: z.string().optional(),
});
export type FanOutShape = z.infer<typeof FAN_OUT>;

/** As lists of them have them: nothing is counted. */
export const FAN_OUT_OUTLINE = FAN_OUT.partial({ failed: true });
export type FanOutOutlineShape = z.infer<typeof FAN_OUT_OUTLINE>;

/** What adding, sealing and acking answer, and a page of failed items. */
export const ADDED = z.looseObject({ groups: z.array(z.looseObject({ id: z.number(), count: z.number() })) });
export const SEALED = z.looseObject({ complete: z.boolean() });
export const ACKED = z.looseObject({
  fanOuts: z.array(z.looseObject({ id: z.string(), complete: z.boolean(), userKey: z.string().optional() })),
  unknown: z.array(z.string()),
});
export const FAILED_ITEMS = z.looseObject({ items: z.array(z.string()), cursor: z.string().optional() });

export const LIST = z.looseObject({
  id: z.string(),
  status: z.enum(['open', 'sealed', 'complete', 'cancelled']),
  operation: z.string().optional(),
  name: z.string().optional(),
  total: z.number(),
  available: z.number(),
  leased: z.number(),
  started: z.number().optional(),
  done: z.number().optional(),
  succeeded: z.number().optional(),
  failed: z.number(),
  countsAreAtLeast: z.boolean().optional(),
  createdAt: z.string(),
  endedAt: z.string().optional(),
});
export type ListShape = z.infer<typeof LIST>;

export const LIST_OUTLINE = LIST.partial({ available: true, leased: true, failed: true }).extend({
  status: z.string(),
});
export type ListOutlineShape = z.infer<typeof LIST_OUTLINE>;

/** What deleting, adding, triggering, claiming and giving back answer of a list, and a page of its jobs. */
export const LIST_DELETED = z.looseObject({ id: z.string(), total: z.number() });
export const JOBS_ADDED = z.looseObject({ first: z.number(), count: z.number(), total: z.number() });
export const TRIGGERED = z.looseObject({ triggered: z.number(), left: z.number() });
export const CLAIMED = z.union([
  z.looseObject({ claimId: z.string(), jobs: z.array(z.unknown()), expiresAt: z.string() }),
  z.looseObject({ jobs: z.tuple([]), status: z.string() }),
]);
export const RELEASED = z.looseObject({ released: z.number() });
export const JOBS = z.looseObject({ jobs: z.array(z.unknown()), next: z.number().optional() });

export const FLEETS = z.looseObject({ fleets: z.array(z.string()) });

/** A node, and what draining it answers. */
export const FLEET_NODE = z.looseObject({
  node: z.string(),
  status: z.string(),
  ttlSeconds: z.number(),
  startedAt: z.string(),
  lastBeatAt: z.string(),
  partitions: z.number(),
  warning: z.string().optional(),
});
export type FleetNodeShape = z.infer<typeof FLEET_NODE>;

/** A partition, and what moving it answers. */
export const FLEET_PARTITION = z.looseObject({
  id: z.string(),
  status: z.string(),
  owner: z.string().optional(),
  lastOwner: z.string().optional(),
  next: z.string().optional(),
  pin: z.string().optional(),
  since: z.string().optional(),
  fence: z.number(),
  checkpoint: z.string().optional(),
  warning: z.string().optional(),
});
export type FleetPartitionShape = z.infer<typeof FLEET_PARTITION>;

export const FLEET = z.looseObject({
  id: z.string(),
  nodes: z.array(FLEET_NODE),
  partitions: z.array(FLEET_PARTITION),
});
export type FleetShape = z.infer<typeof FLEET>;
