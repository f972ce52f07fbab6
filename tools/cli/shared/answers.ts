/** Schemas of the API's responses, as commands read them. They also accept the responses of another release. */
import * as z from 'zod/mini';
import { AUDIT_ENTRY as ENTRY } from '../../../src/api/audit/responses.ts';
import { BATCH_OUTLINE, BATCH as BATCH_SCHEMA } from '../../../src/api/batches/responses.ts';
import * as doctor from '../../../src/api/doctor/responses.ts';
import * as fanOuts from '../../../src/api/fan-outs/responses.ts';
import * as fleets from '../../../src/api/fleets/responses.ts';
import * as limits from '../../../src/api/limits/responses.ts';
import * as lists from '../../../src/api/lists/responses.ts';
import * as operations from '../../../src/api/operations/responses.ts';
import * as queues from '../../../src/api/queues/responses.ts';
import * as targets from '../../../src/api/targets/responses.ts';
import * as tasks from '../../../src/api/tasks/responses.ts';

/** The same schema, but unknown fields and unknown enum values pass unchanged. */
const loosened = (schema: z.core.$ZodType): z.core.$ZodType => {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return z.looseObject(Object.fromEntries(Object.entries(def.shape).map(([name, each]) => [name, loosened(each)])));
    case 'array':
      return z.array(loosened(def.element));
    case 'union':
      return z.union(def.options.map(loosened));
    case 'optional':
      return z.optional(loosened(def.innerType));
    case 'nullable':
      return z.nullable(loosened(def.innerType));
    case 'enum':
      return z.string();
    default:
      return schema;
  }
};

/** A response in which these fields are required: commands need them, and they identify the response. */
type Told<Answer, Name extends keyof Answer> = Pick<Answer, Name> & {
  [Other in Exclude<keyof Answer, Name>]?: Answer[Other];
};

const told = <Shape extends z.core.$ZodLooseShape, Name extends keyof Shape & keyof z.output<z.ZodMiniObject<Shape>>>(
  schema: z.ZodMiniObject<Shape>,
  ...names: readonly Name[]
) =>
  z.looseObject(
    Object.fromEntries(
      Object.entries(schema.def.shape).map(([name, field]) => {
        const read = loosened(field);
        return [name, names.some((each) => each === name) ? read : z.optional(read)];
      }),
    ),
  ) as unknown as z.ZodMiniType<Told<z.output<z.ZodMiniObject<Shape>>, Name>>;

export const TASK = told(tasks.TASK, 'id', 'operation', 'target', 'status', 'attempts', 'createdAt');
export type TaskShape = z.infer<typeof TASK>;
export const REGISTERED = told(tasks.REGISTERED, 'ids');
export const TASKS_REDRIVEN = told(tasks.REDRIVEN, 'redriven', 'skipped');
export const FAILURES = told(tasks.FAILURES, 'groups', 'looked');

export const BATCH = told(BATCH_OUTLINE, 'id', 'target', 'status', 'sealedBy', 'size', 'attempt', 'createdAt');
export type BatchShape = z.infer<typeof BATCH>;
export const BATCH_IN_FULL = told(BATCH_SCHEMA, 'id', 'target', 'status', 'size', 'attempt', 'createdAt');

export const TARGET = told(targets.TARGET, 'target', 'operation', 'waiting', 'leader');
export type TargetShape = z.infer<typeof TARGET>;
export const FLUSHED = told(targets.FLUSHED, 'target', 'waiting');

const OPERATION = told(operations.OPERATION, 'operation', 'circuit', 'failures', 'waitingTargets');
export type OperationShape = z.infer<typeof OPERATION>;
const SETTING = told(operations.SETTING, 'path', 'value', 'source', 'meaning');
export type SettingShape = z.infer<typeof SETTING>;
export const CONFIGURATION = z.looseObject({ operation: z.string(), settings: z.array(SETTING) });
export const OPERATIONS = z.looseObject({ operations: z.array(OPERATION) });
const LIMIT = told(limits.LIMIT, 'limit', 'operations', 'perSeconds');
export type LimitShape = z.infer<typeof LIMIT>;
export const LIMITS = z.looseObject({ limits: z.array(LIMIT) });
export const BUCKET = told(limits.BUCKET, 'waiting', 'next');
export type BucketShape = z.infer<typeof BUCKET>;
/** Responses to pausing and resuming an operation or a Target. */
export const PAUSED = told(operations.TARGET_PAUSED, 'alreadyPaused');
export const RESUMED = told(operations.TARGET_RESUMING, 'resuming');

export const DEAD_LETTERS = told(queues.DEAD_LETTERS, 'queues');
export const LETTERS_REDRIVEN = told(queues.LETTERS_REDRIVEN, 'redriven', 'skipped', 'left');

export const LETTERS_DISCARDED = told(queues.LETTERS_DISCARDED, 'discarded', 'skipped', 'left');
const LETTER_MESSAGE = told(queues.LETTER_MESSAGE, 'id', 'since', 'body');
export type LetterMessageShape = z.infer<typeof LETTER_MESSAGE>;
/** Some messages of a queue. */
export const LETTER_MESSAGES = z.looseObject({
  messages: z.array(LETTER_MESSAGE),
  count: z.number(),
  note: z.optional(z.string()),
});

export const AUDIT_ENTRY = told(ENTRY, 'at', 'action', 'subject', 'actor', 'outcome');
export type AuditShape = z.infer<typeof AUDIT_ENTRY>;

/** One page of the doctor's check. */
export const TARGETS_EXAMINED = told(doctor.TARGETS_EXAMINED, 'targets', 'findings');
export const REMOVED_EXAMINED = told(doctor.REMOVED_EXAMINED, 'operations');
export const DESTINATIONS_EXAMINED = told(doctor.DESTINATIONS_EXAMINED, 'destinations');
export const BATCHES_EXAMINED = told(doctor.BATCHES_EXAMINED, 'batches', 'findings');

export const FAN_OUT = told(fanOuts.FAN_OUT, 'id', 'status', 'total', 'failed', 'createdAt');
export type FanOutShape = z.infer<typeof FAN_OUT>;
/** A fan-out in a list of fan-outs, without its counts. */
export const FAN_OUT_OUTLINE = told(fanOuts.FAN_OUT_OUTLINE, 'id', 'status', 'total', 'createdAt');
export type FanOutOutlineShape = z.infer<typeof FAN_OUT_OUTLINE>;
export const ADDED = told(fanOuts.ITEMS_ADDED, 'groups');
export const SEALED = told(fanOuts.SEALED, 'complete');
export const ACKED = told(fanOuts.ACKED, 'fanOuts', 'unknown');
/** Also the response to the list of failed items. */
export const ITEMS = told(fanOuts.ITEMS, 'items');

export const LIST = told(lists.LIST, 'id', 'status', 'total', 'available', 'leased', 'failed', 'createdAt');
export type ListShape = z.infer<typeof LIST>;
export const LIST_OUTLINE = told(lists.LIST_OUTLINE, 'id', 'status', 'total', 'createdAt');
export const LIST_DELETED = told(lists.LIST_DELETED, 'id', 'total');
export const JOBS_ADDED = told(lists.JOBS_ADDED, 'first', 'count', 'total');
export const JOBS = told(lists.JOB_PAGE, 'jobs');
export const TRIGGERED = told(lists.TRIGGERED, 'triggered', 'left');
export const CLAIMED = loosened(lists.CLAIMED) as unknown as typeof lists.CLAIMED;
export const CLAIMS = told(lists.CLAIM_PAGE, 'claims');
export const RENEWED = told(lists.RENEWED, 'expiresAt');
export const BROKEN = told(lists.BROKEN, 'claim', 'released');
export const COMPLETED = told(lists.CLAIM_COMPLETED, 'complete');
export const RELEASED = told(lists.RELEASED, 'released');

export const FLEETS = told(fleets.FLEETS, 'fleets');
/** A node of a fleet; also the response to the drain of a node. */
export const FLEET_NODE = told(
  fleets.NODE_DRAINED,
  'node',
  'status',
  'ttlSeconds',
  'startedAt',
  'lastBeatAt',
  'partitions',
);
export type FleetNodeShape = z.infer<typeof FLEET_NODE>;
/** A partition with its checkpoint. */
export const FLEET_PARTITION = told(fleets.PARTITION_IN_FULL, 'id', 'status', 'fence');
export const PARTITION_MOVED = told(fleets.PARTITION_MOVED, 'id', 'status', 'fence');
export type FleetPartitionShape = z.infer<typeof FLEET_PARTITION>;
export const FLEET = z.looseObject({
  id: z.string(),
  nodes: z.array(FLEET_NODE),
  partitions: z.array(FLEET_PARTITION),
});
export type FleetShape = z.infer<typeof FLEET>;
