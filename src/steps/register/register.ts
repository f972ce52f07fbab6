/**
 * Register: turns messages into waiting tasks, and finds a leader for each of their Targets (R1 to R4).
 *
 * 1. Insert each task, then put its waiting row. Its payload is stored between these two writes, so every task that can
 *    be claimed has a payload.
 * 2. Read each Target's lock. Send an elect message if the Target has no leader, or perhaps a hint if the leader
 *    sleeps. A leader reads the rows after it releases the lock, so at least one of the two functions sees the other's
 *    write.
 * 3. Send rejected messages to the rejected queue with their reasons.
 *
 * A message may also redrive a failed task, or turn a list's jobs into tasks. Any message may be delivered twice. A
 * rejected message does not affect the others.
 */

import { expiresSoon, isClosed, isHeld, type Lock } from '../../domain/batches/lock.ts';
import type { GroupMessage } from '../../domain/batches/messages.ts';
import { type Arrivals, chanceToLook, due } from '../../domain/batches/policy.ts';
import { type Operation, operationFor, operationNamed } from '../../domain/config/resolved.ts';
import { type Millis, type OperationName, operationOf, type Target, type TaskId } from '../../domain/ids.ts';
import { isLimited, leaseOf } from '../../domain/limits/limits.ts';
import { coalescesAmong } from '../../domain/producers/rules.ts';
import { UNKNOWN_SENDER } from '../../domain/producers/sender.ts';
import {
  parseRegisterBody,
  type ReceivedMessage,
  type Refused,
  type RegisterMessage,
  registeredAt,
  type SentTask,
  type Valid,
} from '../../domain/register/register-message.ts';
import type { Rejection } from '../../domain/register/rejection.ts';
import { isSameTask, type NewTask, type Task } from '../../domain/tasks/task.ts';
import { delayPast, LOOK_AGAIN, SOON } from '../../domain/timings.ts';
import type { LockRow } from '../../ports/locks.ts';
import { Unstorable } from '../../ports/tasks.ts';
import { isObject, parseJson } from '../../util/json-text.ts';
import { inParts } from '../../util/parts.ts';
import { describeProblem, type Problem } from '../../util/problems.ts';
import type { RegisterDeps } from '../deps.ts';
import { type AskedTrigger, goOn, triggeredJobs } from '../lists/trigger.ts';
import { Judge, taskProblems } from '../producers/judge.ts';
import { ackEnded } from '../tasks/notify.ts';
import { type RedriveMessage, redrive } from '../tasks/redrive.ts';
import { settleAgain } from '../tasks/settle.ts';
import { checkItemTokens } from './item-tokens.ts';

/** Registers messages. If this rejects, some of the messages may be registered already. A repeat is harmless. */
export const register = async (deps: RegisterDeps, messages: readonly RegisterMessage[]): Promise<void> => {
  const judge = new Judge(await deps.powers.mode(), deps.powers.producers);
  const { valid, redrives, triggers, refused } = sort(deps, judge, messages);
  const checked = await checkItemTokens(deps, valid);
  const jobs = await triggeredJobs(deps, judge, triggers);
  const { registered, refused: unstored } = await insert(deps, [...checked.valid, ...jobs.valid]);
  const redriven = await redrive(deps, judge, redrives);
  // If a task is in both lists, use the one that was read later.
  const known = new Map([...registered, ...redriven.tasks].map((task) => [task.id, task]));
  const waiting = [...known.values()].filter(({ state }) => state.status === 'created');
  await settleAgain(deps, registered);
  await deps.waiting.put(waiting);
  await notice(deps, arrivals(waiting));
  judge.report(deps.report);
  await reject(deps, [...refused, ...checked.refused, ...jobs.refused, ...unstored, ...redriven.refused]);
  // Do this last: if the function dies before, the trigger message is delivered again and these jobs are registered
  // again.
  await goOn(deps, jobs);
};

const sort = ({ config, machine }: RegisterDeps, judge: Judge, messages: readonly RegisterMessage[]) => {
  const valid: Valid[] = [];
  const redrives: RedriveMessage[] = [];
  const triggers: AskedTrigger[] = [];
  const refused: Refused[] = [];
  const createdAt = machine.now();
  for (const message of messages) {
    const parsed = parseRegisterBody(config, message);
    if (!parsed.ok) refused.push({ message, problems: parsed.problems });
    else if (parsed.value.kind === 'redrive') redrives.push({ message, asked: parsed.value.run });
    else if (parsed.value.kind === 'trigger') triggers.push({ message, asked: parsed.value.trigger });
    else {
      const { task } = parsed.value;
      const operation = operationFor(config, task.operation);
      const problems = taskProblems(judge, operation, message, task);
      if (problems.length > 0) refused.push({ message, problems });
      else valid.push(validOf(judge, operation, message, task, createdAt));
    }
  }
  return { valid, redrives, triggers, refused };
};

const validOf = (
  judge: Judge,
  operation: Operation,
  message: RegisterMessage,
  task: SentTask,
  createdAt: Millis,
): Valid => {
  const { coalesceKey, itemToken } = task;
  const { sender = UNKNOWN_SENDER } = message;
  const among = coalesceKey === undefined ? undefined : coalescesAmong(judge.rulesOf(operation), sender);
  return {
    message,
    task: {
      ...registeredAt(task, message, createdAt),
      ...(among === undefined ? {} : { sender: among }),
      ...(among !== undefined && judge.mode === 'enforce' ? { ownKey: true } : {}),
    },
    ...(itemToken === undefined ? {} : { itemToken }),
  };
};

/**
 * R1. The first message with an id became the stored task. A message that describes the same task is registered
 * further, because an earlier invocation may have died after the insert. Any other message with that id is refused.
 */
const insert = async (deps: RegisterDeps, sent: readonly Valid[]) => {
  const { report, tasks } = deps;
  const { inserted, reasons } = await insertStorable(deps, sent);
  const valid = sent.filter(({ task }) => !reasons.has(task.id));
  const stored = new Map(inserted.map((answer) => [answer.stored.id, answer.stored]));
  const isStored = ({ task }: Valid): boolean => isSameTask(stored.get(task.id) as Task, task);
  const same = valid.filter(isStored);
  const payloads = new Map(same.map(({ task }) => [task.id, task]));
  const registered = inserted.map((answer) => answer.stored).filter(({ id }) => payloads.has(id));
  // Store payloads before the waiting rows (R2). So every task that can be claimed or cancelled has its payload.
  const apart = registered.filter(({ payloadApart, state }) => payloadApart && state.status === 'created');
  await tasks.storePayloads(apart.map((task) => ({ ...task, payload: (payloads.get(task.id) as NewTask).payload })));
  const isNew = new Set(inserted.filter((answer) => answer.isNew).map((answer) => answer.stored.id));
  for (const [operation, sent] of Map.groupBy(same, ({ task }) => task.operation)) {
    const tasks = new Set(sent.map(({ task }) => task.id).filter((id) => isNew.has(id))).size;
    report({ event: 'registered', operation, tasks, duplicates: sent.length - tasks });
  }
  const conflicts = valid.filter((sent) => !isStored(sent));
  return {
    registered,
    refused: [
      ...conflicts.map(({ task, ...sent }): Refused => ({ ...sent, problems: [conflict(task)] })),
      ...sent.flatMap(({ task, ...message }): Refused[] => {
        const reason = reasons.get(task.id);
        return reason === undefined
          ? []
          : [{ ...message, problems: [{ path: '', reason: `cannot be stored: ${reason}` }] }];
      }),
    ],
  };
};

/**
 * Inserts the tasks that the store accepts, and returns the reasons why it refuses the others. If several messages have
 * the same id, the first one is inserted.
 */
const insertStorable = async ({ tasks }: RegisterDeps, sent: readonly Valid[]) => {
  const unique = [...new Map(sent.toReversed().map(({ task }) => [task.id, task])).values()];
  try {
    return { inserted: await tasks.insert(unique), reasons: NO_REASONS };
  } catch (cause) {
    if (!(cause instanceof Unstorable)) throw cause;
    const { reasons } = cause;
    return { inserted: await tasks.insert(unique.filter(({ id }) => !reasons.has(id))), reasons };
  }
};

const NO_REASONS: ReadonlyMap<TaskId, string> = new Map();

const conflict = (task: Pick<SentTask, 'id'>): Problem => ({
  path: 'id',
  reason: `${task.id} was registered before with another operation, payload or fanOutItem; the first one stands`,
});

const NOTHING: Arrivals = { tasks: 0, bytes: 0, weight: 0, largest: 0, startBy: Number.POSITIVE_INFINITY };

const arrivals = (tasks: readonly Task[]): ReadonlyMap<Target, Arrivals> => {
  const arrived = new Map<Target, Arrivals>();
  for (const { target, bytes, weight = 1, startBy } of tasks) {
    const before = arrived.get(target) ?? NOTHING;
    arrived.set(target, {
      tasks: before.tasks + 1,
      bytes: before.bytes + bytes,
      weight: before.weight + weight,
      largest: Math.max(before.largest, bytes),
      startBy: Math.min(before.startBy, startBy ?? Number.POSITIVE_INFINITY),
    });
  }
  return arrived;
};

/**
 * R3. Reads the lock of each Target once. Sends an elect message if the Target has no leader, and may send a hint if
 * its leader sleeps.
 */
const notice = async (deps: RegisterDeps, arrived: ReadonlyMap<Target, Arrivals>): Promise<void> => {
  const { config, locks, machine, queues, report } = deps;
  const targets = [...arrived.keys()];
  const rows = await locks.readAll(targets);
  const read = rows.map((row) => row?.lock);
  const now = machine.now();
  // Put missing lock rows before the elect messages. If such a message is lost, the patrol finds the Target by its lock
  // row.
  const unknown = await withoutRow(deps, targets, rows, now);
  if (unknown.length > 0) await locks.enlist(unknown, now);
  const led = new Map(
    targets.flatMap((target, index) => {
      const lock = read[index];
      return lock && isHeld(lock, now) ? [[target, lock] as const] : [];
    }),
  );
  // Whether a Target needs no message: a blocked, paused or full Target is woken when a slot is free or the pause ends.
  const isOff = (lock: Lock | undefined, target: Target): boolean =>
    lock !== undefined &&
    (lock.blocked !== undefined ||
      isClosed(lock, operationFor(config, operationOf(target)).concurrency, deps.locks.pageSize));
  const leaderless = targets.filter((target, index) => !led.has(target) && !isOff(read[index], target));
  if (leaderless.length > 0) await queues.elect(leaderless.map((target) => ({ kind: 'elect', target })));
  const nudges = [...led].map(async ([target, lock]) => {
    try {
      await nudge(deps, target, lock, arrived.get(target) as Arrivals);
    } catch (cause) {
      // A failed hint only costs time, because the leader wakes anyway when the batch is due.
      report({ event: 'nudge-failed', target, cause: String(cause) });
    }
  });
  await Promise.all(nudges);
};

/**
 * Targets without a lock row. If a row expires soon, its life is extended. If it is deleted before it can be extended,
 * it counts as missing.
 */
const withoutRow = async (
  { locks }: RegisterDeps,
  targets: readonly Target[],
  rows: readonly (LockRow | undefined)[],
  now: Millis,
): Promise<readonly Target[]> => {
  const stays = await Promise.all(
    targets.map((target, index) => {
      const row = rows[index];
      return row !== undefined && (!expiresSoon(row.expiresAt, now) || locks.keep(target, now));
    }),
  );
  return targets.filter((_, index) => !stays[index]);
};

/**
 * If the chance is at least this high, each invocation adds a large part of the batch. So at most about three
 * invocations read the rows before the batch is full.
 */
const FEW_LOOK = 0.9;

/**
 * R4. Sends a hint to a leader that sleeps for long, if its batch is full or one of the new tasks expires before the
 * leader wakes.
 */
const nudge = async (deps: RegisterDeps, target: Target, lock: Lock, arrivals: Arrivals): Promise<void> => {
  const { machine, config, waiting, queues } = deps;
  const now = machine.now();
  if (lock.openBatch || !lock.holder) return;
  const operation = operationFor(config, operationOf(target));
  const { batch: policy, concurrency } = operation;
  const guardAt = lock.lockedUntil - leaseOf(operation);
  // The leader is awake, or soon will be. If the operation has limits, the leader may also wait for a moment: a batch
  // that becomes full meanwhile does not change that, but a task may expire.
  const isAsleep = guardAt > now + SOON;
  if (!isAsleep && !isLimited(operation)) return;
  if (isClosed(lock, concurrency, deps.locks.pageSize)) return;
  const hint: GroupMessage = { target, fence: lock.fence, token: lock.holder, hint: true };
  // If a task expires while the leader sleeps, send a delayed hint for that time. If the expiry is beyond the longest
  // delay of an SQS message, the leader wakes before it anyway.
  if (arrivals.startBy < (isAsleep ? guardAt : now + LOOK_AGAIN))
    await queues.group(hint, delayPast(arrivals.startBy, now));
  if (!isAsleep) return;
  const chance = chanceToLook(arrivals, policy);
  if (machine.random() >= chance) return;
  // If many invocations read the rows, an eventually consistent read costs half the price, and an outdated result only
  // means that a later invocation sends the hint. If few invocations read the rows, the one that filled the batch must
  // see its own rows, so it uses a strongly consistent read.
  const rows =
    chance < FEW_LOOK
      ? (await waiting.page(target, policy.maxSize)).items
      : await waiting.first(target, policy.maxSize);
  if (rows.length > 0 && due(rows, policy, now).do === 'seal') await queues.group(hint, 0);
};

const reject = async (deps: RegisterDeps, refused: readonly Refused[]): Promise<void> => {
  if (refused.length === 0) return;
  const { config, queues, machine, report } = deps;
  const at = machine.now();
  await queues.reject(
    refused.map(
      ({ message: { messageId, body, sentAt, sender }, problems }): Rejection => ({
        messageId,
        body,
        problems,
        at,
        ...(sentAt === undefined ? {} : { sentAt }),
        ...(sender === undefined ? {} : { sender }),
      }),
    ),
  );
  for (const [operation, same] of Map.groupBy(refused, ({ message }) => operationIn(config, message.body))) {
    const reasons = same.flatMap(({ problems }) => problems.map(describeProblem));
    report({
      event: 'rejected',
      ...(operation === undefined ? {} : { operation }),
      messages: same.length,
      reasons: [...new Set(reasons)].slice(0, 10),
    });
  }
  await ackEnded(
    deps,
    refused.flatMap(({ job }) => (job === undefined ? [] : [{ fanOutItem: job, status: 'failed' }])),
  );
};

/** The configured operation that a rejected message names. Undefined if it names none. */
const operationIn = (config: RegisterDeps['config'], body: string): OperationName | undefined => {
  const json = parseJson(body);
  const named = json.ok && isObject(json.value) ? json.value.operation : undefined;
  return typeof named === 'string' ? operationNamed(config, named)?.operation : undefined;
};

/**
 * If messages fail together, they are tried again in parts of this size, so that a message that cannot be registered
 * affects few others.
 */
const PART = 10;

/**
 * Registers messages so that a failing message does not delay the others. If messages fail together, they are tried
 * again in smaller parts, and then one by one.
 *
 * @param onFailure is called for each message that failed.
 * @returns the messages that SQS must deliver again.
 */
export const registerAll = async <Message extends ReceivedMessage>(
  deps: RegisterDeps,
  messages: readonly Message[],
  onFailure: (message: Message, cause: unknown) => void,
): Promise<readonly Message[]> => {
  try {
    await register(deps, messages);
    return [];
  } catch (cause) {
    const [only] = messages;
    if (messages.length > 1 || !only) {
      const parts = inParts(messages, messages.length > PART ? PART : 1);
      return (await Promise.all(parts.map((part) => registerAll(deps, part, onFailure)))).flat();
    }
    onFailure(only, cause);
    return [only];
  }
};
