/** Factories for records, so that a test states only the fields that matter to it. */

import type { ElectMessage } from '../../src/domain/batches/messages.ts';
import type { Waiting } from '../../src/domain/batches/policy.ts';
import type { HttpTarget } from '../../src/domain/config/endpoints.ts';
import type { BatchPolicy, RetryPolicy } from '../../src/domain/config/policies.ts';
import { AS_THEY_COME, type Config, KEEP_AUDIT, NO_ALARMS, type Operation } from '../../src/domain/config/resolved.ts';
import type { Call } from '../../src/domain/downstream/downstream.ts';
import { type Secrets, SecretUnreadable } from '../../src/domain/downstream/secret.ts';
import type { ItemId } from '../../src/domain/fan-out-ids.ts';
import {
  type BatchId,
  type Candidate,
  candidateOf,
  type OperationName,
  type Target,
  type TaskId,
  type Token,
} from '../../src/domain/ids.ts';
import { firstRun, itemBytes, type NewTask, payloadHashOf, type Task } from '../../src/domain/tasks/task.ts';
import type { Postponed } from '../../src/ports/batches.ts';

export const NOW = Date.UTC(2026, 0, 1);

export const id = (text: string): TaskId => text as TaskId;
export const target = (text: string): Target => text as Target;
export const batchId = (text: string): BatchId => text as BatchId;
export const token = (text: string): Token => text as Token;
export const anItem = (text: string): ItemId => text as ItemId;
export const operationName = (text: string): OperationName => text as OperationName;
export const candidate = (text: string, run = 1): Candidate => candidateOf(id(text), run);

/** The candidate of a task that was registered at {@link NOW}, in its first or a later run. */
export const registeredCandidate = (text: string, run = 1): Candidate => candidate(text, firstRun(NOW) + run - 1);

export const aTask = (fields: Partial<NewTask> = {}): NewTask => {
  const payload = fields.payload ?? '{"depot":"MUC"}';
  const taskId = fields.id ?? id('task-1');
  return {
    id: taskId,
    operation: operationName('ship'),
    target: target('ship/depot=MUC'),
    payload,
    payloadHash: payloadHashOf(payload),
    bytes: itemBytes(taskId, payload),
    createdAt: NOW,
    run: 1,
    ...fields,
  };
};

/** A task as it is stored. */
export const aStored = (state: Task['state'], fields: Partial<Task> = {}): Task => {
  const { payload: _, ...task } = aTask();
  return { ...task, payloadApart: false, ...fields, state };
};

export const aRow = (fields: Partial<Waiting> & { readonly id?: string } = {}): Waiting => {
  const { id: name = 'task-1', ...rest } = fields;
  const at = rest.at ?? NOW;
  return { entry: `${at}#${name}#1`, candidate: candidate(name), at, bytes: 100, weight: 1, ...rest };
};

export const rows = (count: number, fields: Partial<Waiting> = {}): Waiting[] =>
  Array.from({ length: count }, (_, n) => aRow({ id: `task-${n}`, ...fields }));

export const aPolicy = (fields: Partial<BatchPolicy> = {}): BatchPolicy => ({
  maxSize: 100,
  maxBytes: 900_000,
  maxWeight: 0,
  maxWait: 1_000,
  quietPeriod: 0,
  minSize: 1,
  window: null,
  bypass: null,
  ...fields,
});

export const aRetry = (fields: Partial<RetryPolicy> = {}): RetryPolicy => ({
  immediate: 1,
  maxAttempts: 3,
  minDelay: 1_000,
  maxDelay: 60_000,
  bisect: true,
  isolate: true,
  ...fields,
});

export const aDownstream = (fields: Partial<HttpTarget> = {}): HttpTarget => ({
  kind: 'http',
  url: 'http://127.0.0.1:9100/batch',
  headers: {},
  secret: null,
  method: 'POST',
  auth: null,
  request: null,
  response: null,
  legacySignature: true,
  usageHeader: null,
  timeout: 1_000,
  deadline: 3_600_000,
  requireResults: null,
  ...fields,
});

export const aCall = (fields: Partial<Call> = {}): Call => ({
  batchId: batchId('ship/depot=MUC#1#1'),
  operation: operationName('ship'),
  target: target('ship/depot=MUC'),
  attempt: 1,
  items: [{ id: id('a'), payload: '{}' }],
  ...fields,
});

/** Secrets by parameter name. */
export const someSecrets = (texts: Readonly<Record<string, string>> = {}): Secrets => ({
  read: async (ref) => {
    const text = texts['ssm' in ref ? ref.ssm : ref.secretsManager];
    if (text === undefined) throw new SecretUnreadable(ref, 'the test does not define it');
    return text;
  },
});

const anOperation = (fields: Partial<Operation> = {}): Operation => ({
  operation: operationName('ship'),
  keys: ['depot'],
  shards: 1,
  batch: aPolicy({ maxSize: 10 }),
  merge: null,
  concurrency: { perTarget: null, total: null },
  downstream: aDownstream(),
  retry: aRetry(),
  callbacks: { failed: null, succeeded: null },
  rateLimit: null,
  limits: [],
  circuit: null,
  keepTasks: 30 * 24 * 3_600_000,
  ...fields,
});

/** The start of a batch's attempt. */
export const aStart = (attempt: number, at: number, runUntil: number) => ({
  attempt,
  countedAttempts: attempt,
  token: token(`starter-${attempt}`),
  at,
  runUntil,
});

/** The end of a batch's attempt, with all its members still open. */
export const aPostponed = (retryAt: number, fields: Partial<Postponed> = {}): Postponed => ({
  retryAt,
  countedAttempts: 1,
  counts: { succeeded: 0, failed: 0 },
  lastAttempt: { endedAt: retryAt, reason: 'answered 503', open: 2 },
  calls: [],
  ...fields,
});

/** The Target that an elect message is about, if it asks for a leader. */
export const electedIn = (message: ElectMessage | undefined): Target | undefined =>
  message && 'target' in message ? message.target : undefined;

export const aConfig = (...operations: readonly Partial<Operation>[]): Config => ({
  version: 1,
  operations: Object.fromEntries(
    (operations.length > 0 ? operations : [{}]).map((fields) => {
      const operation = anOperation(fields);
      return [operation.operation, operation];
    }),
  ),
  sources: {},
  limits: {},
  register: AS_THEY_COME,
  fanOuts: { idleOpen: 7_200_000, idleSealed: 604_800_000, keep: 604_800_000, callback: null },
  lists: { keep: 604_800_000, callback: null, maxDeliveries: 5 },
  destinations: {},
  alarms: NO_ALARMS,
  keepAudit: KEEP_AUDIT,
});
