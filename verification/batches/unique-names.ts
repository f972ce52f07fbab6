/**
 * Gives each life of a task, and each batch, a unique name. An id may be used again once its task has expired. A
 * Target's fences begin again at 1 once its lock row has expired. The judges identify tasks and batches by name, so
 * with unique names the judges of short schedules also work for schedules of months.
 */

import type { Batch } from '../../src/domain/batches/batch.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { Call } from '../../src/domain/downstream/downstream.ts';
import {
  type BatchId,
  type Candidate,
  candidateOf,
  type Millis,
  parseCandidate,
  type Target,
  type TaskId,
} from '../../src/domain/ids.ts';
import {
  parseRegisterBody,
  parseRegisterMessage,
  type ReceivedMessage,
} from '../../src/domain/register/register-message.ts';
import { isSameTask, type Task, type TaskRun } from '../../src/domain/tasks/task.ts';
import { LEADER_TIMEOUT, MINUTE } from '../../src/domain/timings.ts';
import type { Tables } from '../../src/memory/tables.ts';
import type { Evidence } from './evidence.ts';
import type { Expired } from './time-to-live.ts';

/** A message, with all times at which a function received it. */
export interface Sent extends ReceivedMessage {
  readonly receivedAt: readonly Millis[];
}

interface Life {
  readonly task: Task;
  /** The name that the judges use. For the last life with an id, the name is the id. */
  readonly name: TaskId;
  /** When its row was deleted. */
  readonly until: Millis;
}

/**
 * The most by which two clocks may differ: the clock by which a task began, and the clock by which an event happened.
 */
const SKEW: Millis = 2 * MINUTE;

class Lives {
  readonly #lives: ReadonlyMap<TaskId, readonly Life[]>;
  readonly #locks: Expired['locks'];
  /**
   * When a batch's rows were deleted if a new row of the same batch followed, because the lock still named the batch as
   * open.
   */
  readonly #rowsBefore: ReadonlyMap<BatchId, readonly Millis[]>;
  /** The names of the candidates of each batch, by the name of the batch. */
  readonly #candidates = new Map<BatchId, ReadonlyMap<TaskId, TaskId>>();

  constructor(tables: Tables, expired: Expired) {
    this.#locks = expired.locks;
    const gone = Map.groupBy(expired.batches, ({ row }) => row.id);
    this.#rowsBefore = new Map(
      [...gone].map(([id, all]) => {
        const times = all.map(({ at }) => at).toSorted((a, b) => a - b);
        return [id, tables.batches.has(id) ? times : times.slice(0, -1)];
      }),
    );
    const rows = [
      ...expired.tasks.map(({ row, at }) => ({ task: row, until: at })),
      ...[...tables.tasks.values()].map((task) => ({ task, until: Number.POSITIVE_INFINITY })),
    ];
    const byId = Map.groupBy(rows, ({ task }) => task.id);
    this.#lives = new Map([...byId].map(([id, lives]) => [id, named(id, lives)]));
    for (const { row, at } of expired.batches) this.#note(row, at);
    for (const batch of tables.batches.values()) this.#note(batch, batch.createdAt);
  }

  get tasks(): ReadonlyMap<TaskId, Task> {
    return new Map(
      [...this.#lives.values()].flat().map(({ task, name }) => [name, this.#task({ ...task, id: name })] as const),
    );
  }

  /** All lives with an id. */
  all(id: TaskId): readonly Life[] {
    return this.#lives.get(id) ?? [];
  }

  /** The life to which a run belongs. Run numbers begin at the time when the task was created. */
  ofRun(id: TaskId, run: number): TaskId {
    return this.all(id).findLast(({ task }) => task.createdAt <= run)?.name ?? id;
  }

  /** The life that had begun by a moment. */
  at(id: TaskId, moment: Millis): TaskId {
    return this.all(id).findLast(({ task }) => task.createdAt <= moment + SKEW)?.name ?? id;
  }

  /**
   * The name of a batch, given its id and a time at which the batch existed. A Target's lock is deleted only long after
   * the Target's last batch.
   */
  batchAt(id: BatchId, moment: Millis): BatchId {
    const target = id.split('#').slice(0, -2).join('#') as Target;
    const rowsLater = this.#rowsBefore.get(id)?.filter((at) => at > moment).length ?? 0;
    const later = rowsLater + this.#locks.filter(({ row, at }) => row === target && at > moment).length;
    return later === 0 ? id : (`${id}~${later}` as BatchId);
  }

  batch(batch: Batch): Batch {
    const renamed = (all: readonly Candidate[]): readonly Candidate[] => all.map((each) => this.#candidate(each));
    return {
      ...batch,
      id: this.batchAt(batch.id, batch.createdAt),
      candidates: renamed(batch.candidates),
      dropped: renamed(batch.dropped),
    };
  }

  /** The name of a member of a batch. */
  member(batch: BatchId, id: TaskId): TaskId {
    return this.#candidates.get(batch)?.get(id) ?? id;
  }

  call(call: Call, at: Millis): Call {
    const batchId = this.batchAt(call.batchId, at);
    return { ...call, batchId, items: call.items.map((item) => ({ ...item, id: this.member(batchId, item.id) })) };
  }

  /**
   * The message, renamed after the life that it began or repeats. A refused message is renamed after a life of another
   * task.
   */
  message(
    { messageId, body, sentAt }: Sent,
    config: Evidence['config'],
    refusedAt: Millis | undefined,
  ): ReceivedMessage {
    const parsed = parseRegisterMessage(config, { messageId, body });
    if (!parsed.ok) return { messageId, body, sentAt };
    const { value } = parsed;
    const later = this.all(value.id).filter(({ until }) => until > sentAt);
    const others = later.filter(({ task }) => !isSameTask(task, value) && task.createdAt <= (refusedAt ?? 0) + SKEW);
    const same = later.filter(({ task }) => isSameTask(task, value));
    const own = same.find(({ task }) => task.correlationId === value.correlationId);
    const life = own ?? (refusedAt === undefined ? same[0] : others[0]);
    return { messageId, body: renamed(body, value.id, life?.name ?? value.id), sentAt };
  }

  /**
   * The message, renamed after each later life that it began. A message may be received again after its task has
   * expired, if the function that registered the task stood still before it deleted the message.
   *
   * @param first the message that is already in the evidence
   */
  messagesAgain(
    { messageId, body, sentAt, receivedAt }: Sent,
    config: Evidence['config'],
    first: string,
  ): ReceivedMessage[] {
    const parsed = parseRegisterMessage(config, { messageId, body });
    if (!parsed.ok) return [];
    const { value } = parsed;
    const began = ({ createdAt }: Task): boolean =>
      receivedAt.some((at) => createdAt >= at - SKEW && createdAt <= at + LEADER_TIMEOUT + SKEW);
    return this.all(value.id)
      .filter(({ task }) => isSameTask(task, value) && task.correlationId === value.correlationId && began(task))
      .map(({ name }) => ({ messageId, body: renamed(body, value.id, name), sentAt }))
      .filter((again) => again.body !== first);
  }

  #note(batch: Batch, at: Millis): void {
    const id = this.batchAt(batch.id, Math.min(at, batch.createdAt));
    const members = batch.candidates.map(parseCandidate);
    this.#candidates.set(id, new Map(members.map((each) => [each.id, this.ofRun(each.id, each.run)])));
  }

  #candidate(candidate: Candidate): Candidate {
    const { id, run } = parseCandidate(candidate);
    return candidateOf(this.ofRun(id, run), run);
  }

  #task(task: Task): Task {
    const { state } = task;
    if (!('batchId' in state || 'supersededBy' in state)) return task;
    const at = 'finishedAt' in state ? state.finishedAt : task.createdAt;
    const inBatch = state.batchId === undefined ? {} : { batchId: this.batchAt(state.batchId, at) };
    const by = 'supersededBy' in state ? state.supersededBy : undefined;
    const superseded = by === undefined ? {} : { supersededBy: this.at(by, at) };
    return { ...task, state: { ...state, ...inBatch, ...superseded } as Task['state'] };
  }

  /** Batches that finished after the row of a member had expired. */
  outlivedIn(batches: readonly Batch[]): ReadonlySet<BatchId> {
    const until = new Map([...this.#lives.values()].flat().map((life) => [life.name, life.until]));
    const isOutlived = ({ candidates, finishedAt = 0 }: Batch): boolean =>
      candidates.some((each) => (until.get(parseCandidate(each).id) ?? 0) <= finishedAt + SKEW);
    return new Set(batches.filter(isOutlived).map(({ id }) => id));
  }

  settled(task: Task): Task {
    return this.#task({ ...task, id: this.ofRun(task.id, task.run) });
  }

  run({ id, run }: TaskRun): TaskRun {
    return { id: this.ofRun(id, run), run };
  }
}

/**
 * Gives each life a name. All names have the same length, so that renaming does not change the size of a batch in
 * bytes.
 */
const named = (id: TaskId, rows: readonly Omit<Life, 'name'>[]): readonly Life[] => {
  const lives = rows.toSorted((a, b) => a.task.createdAt - b.task.createdAt);
  return lives.map((life, index) => ({
    ...life,
    name:
      index === lives.length - 1 ? id : (`${String.fromCharCode('A'.charCodeAt(0) + index)}${id.slice(1)}` as TaskId),
  }));
};

const renamed = (body: string, id: TaskId, name: TaskId): string => body.replace(`"id":"${id}"`, `"id":"${name}"`);

/** The evidence with unique names. @param sent all messages, with their receipts */
export const withUniqueNames = (evidence: Evidence, expired: Expired, sent: readonly Sent[]): Evidence => {
  const { config, tables, log, sentCallbacks, seen, redriven, refusedRedrives, rejected, cancelled } = evidence;
  const lives = new Lives(tables, expired);
  const batches = [...expired.batches.map(({ row }) => row), ...tables.batches.values()].map((each) =>
    lives.batch(each),
  );
  const refusedAt = new Map(
    rejected.flatMap(({ messageId, body, at }) => [[messageId, at] as const, [body, at] as const]),
  );
  const messages = sent.map((each) => {
    const message = lives.message(each, config, refusedAt.get(each.body) ?? refusedAt.get(each.messageId));
    return { before: each.body, message, again: lives.messagesAgain(each, config, message.body) };
  });
  const bodies = new Map(messages.map(({ before, message }) => [before, message.body]));
  const named = (ids: Iterable<TaskId>): Set<TaskId> =>
    new Set([...ids].flatMap((id) => [id, ...lives.all(id).map(({ name }) => name)]));
  return {
    ...evidence,
    tables: { ...tables, tasks: new Map(lives.tasks), batches: new Map(batches.map((each) => [each.id, each])) },
    sent: messages.flatMap(({ message, again }) => [message, ...again]),
    lost: new Set([...evidence.lost].map((body) => bodies.get(body) ?? body)),
    rejected: rejected.map((each) => ({ ...each, body: bodies.get(each.body) ?? each.body })),
    log: {
      calls: log.calls.map((each) => ({ ...each, call: lives.call(each.call, each.at), ...answeredAs(lives, each) })),
      tried: new Set([...log.tried, ...[...expired.tried].map(({ id, run }) => lives.ofRun(id, run))]),
      reports: log.reports.map((each) => {
        const batchId = lives.batchAt(each.batchId, each.at);
        return {
          ...each,
          batchId,
          items: each.items === 'all-succeeded' ? each.items : renamedItems(lives, batchId, each.items),
        };
      }),
    },
    sentCallbacks: sentCallbacks.map(({ event, ...each }) => {
      const said = JSON.parse(event) as { readonly id: string; readonly subject: TaskId };
      const run = Number(said.id.slice(said.id.lastIndexOf('.') + 1));
      const subject = lives.ofRun(said.subject, run);
      return { ...each, event: JSON.stringify({ ...said, subject, id: `${subject}.${run}` }) };
    }),
    seen: { ...seen, settled: seen.settled.map((task) => lives.settled(task)) },
    redriven: redriven.map((each) => lives.run(each)),
    refusedRedrives: refusedRedrives.map((each) => lives.run(each)),
    cancelled: named(cancelled),
    payloadsGone: named(evidence.payloadsGone),
    outlived: lives.outlivedIn(batches),
  };
};

const renamedItems = <Each>(
  lives: Lives,
  batch: BatchId,
  items: ReadonlyMap<TaskId, Each>,
): ReadonlyMap<TaskId, Each> => new Map([...items].map(([id, each]) => [lives.member(batch, id), each]));

const answeredAs = (lives: Lives, { call, at, answered }: Evidence['log']['calls'][number]) => {
  if (answered?.answer.kind !== 'results') return {};
  const batch = lives.batchAt(call.batchId, at);
  return {
    answered: { ...answered, answer: { ...answered.answer, items: renamedItems(lives, batch, answered.answer.items) } },
  };
};

/** The redrives among these message bodies. */
export const redrivesIn = (config: Config, bodies: readonly string[]): readonly TaskRun[] =>
  bodies.flatMap((body) => {
    const parsed = parseRegisterBody(config, { messageId: '', body });
    return parsed.ok && parsed.value.kind === 'redrive' ? [parsed.value.run] : [];
  });
