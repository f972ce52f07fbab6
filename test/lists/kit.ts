/** A deferred list with small groups, its stores and queues, and other processes that use the same tables through gates of their own. */
import { expect } from 'vitest';
import type { Config } from '../../src/domain/config/resolved.ts';
import { parseStoredItem } from '../../src/domain/fan-out-ids.ts';
import type { Token } from '../../src/domain/ids.ts';
import {
  type ClaimId,
  claimKeyOf,
  type Handle,
  type ListId,
  listId,
  parseHandle,
  type Range,
  trackerOf,
} from '../../src/domain/lists/ids.ts';
import type { List, NewList } from '../../src/domain/lists/list.ts';
import { parseRegisterBody } from '../../src/domain/register/register-message.ts';
import { memoryFanOuts } from '../../src/memory/fan-outs.ts';
import { memoryLists } from '../../src/memory/lists.ts';
import { emptyTables, type Tables } from '../../src/memory/tables.ts';
import type { FanOuts } from '../../src/ports/fan-outs.ts';
import type { JobResult, Lists } from '../../src/ports/lists.ts';
import { ackItems } from '../../src/steps/fan-outs/ack-items.ts';
import { patrolFanOuts } from '../../src/steps/fan-outs/patrol.ts';
import { append } from '../../src/steps/lists/append.ts';
import { type Claimed, claimJobs } from '../../src/steps/lists/claim.ts';
import { type Completion, complete } from '../../src/steps/lists/complete.ts';
import { type Named, namedBy } from '../../src/steps/lists/held.ts';
import { type AttemptedJob, breakClaim, release } from '../../src/steps/lists/release.ts';
import { renew } from '../../src/steps/lists/renew.ts';
import { goOn, trigger, triggeredJobs, type Wanted } from '../../src/steps/lists/trigger.ts';
import { Judge } from '../../src/steps/producers/judge.ts';
import { type Gate, openGate, through } from '../../src/virtual/gate.ts';
import { aConfig, NOW, operationName } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from '../steps/step-kit.ts';

export const LIST = listId('l') as ListId;
const TRACKER = trackerOf(LIST);
export const MINUTE = 60_000;
export const token = (text: string): Token => text as Token;

/** The answer to a successful claim. */
export type Got = Extract<Claimed, { kind: 'claimed' }>;

/** All calls on a list, made by one process. */
export interface Process extends StepKit {
  /** The stores, whose calls a test may replace. */
  lists: Lists;
  fanOuts: FanOuts;
  readonly tables: Tables;
  /** @param what a number of jobs, or the names of the jobs */
  add(what: number | readonly string[], name?: string): ReturnType<typeof append>;
  claim(claim: string, count: number, span?: number): Promise<Claimed>;
  /** Throws if no job is claimed. */
  got(claim: string, count: number, span?: number): Promise<Got>;
  complete(handle: Handle, completion?: Completion): ReturnType<typeof complete>;
  renew(handle: Handle, span?: number): ReturnType<typeof renew>;
  /** @param attempted the jobs that the worker has begun; undefined if it does not say which */
  release(handle: Handle, attempted?: readonly (number | AttemptedJob)[]): ReturnType<typeof release>;
  /** Ends a claim by its name, as a person does. */
  break(claim: string): ReturnType<typeof breakClaim>;
  trigger(wanted: Wanted | number, name?: string): ReturnType<typeof trigger>;
  patrol(): Promise<void>;
}

export interface ListKit extends Process {
  open(fields?: Partial<NewList>): Promise<List>;
  read(): Promise<List>;
  /** Another process, each of whose calls passes a gate. */
  behind(gate: Gate): Process;
  /** Handles trigger messages until none is sent, and returns the ids of the items that become tasks. */
  start(): Promise<readonly string[]>;
  /** Ends tasks. @param items as {@link ListKit.start} returns them */
  end(items: readonly string[], outcome?: 'succeeded' | 'failed'): Promise<void>;
  /** The jobs that are done, with true for success. */
  done(): ReadonlyMap<number, boolean>;
  sentCallbacks(): readonly { readonly id: string; readonly data: Record<string, unknown> }[];
  /** Runs the patrol each minute for this time. */
  patrolFor(span: number): Promise<void>;
}

/** A configuration that sends the end of lists to `ops`. */
export const reportingOps = (keep = 24 * 60 * MINUTE, maxDeliveries = 5): Config => ({
  ...aConfig({ operation: operationName('ship') }),
  destinations: { ops: { kind: 'queue', name: 'ops' } },
  lists: { keep, maxDeliveries, callback: 'ops' },
});

const held = (handle: Handle, id = LIST): Named => {
  const parsed = parseHandle(id, handle);
  if (typeof parsed === 'string') throw new Error(`no handle: ${handle}`);
  return namedBy(parsed);
};

export const result = (job: number, fields: Partial<JobResult> = {}): JobResult => ({
  token: job,
  outcome: 'succeeded',
  ...fields,
});

/** How often each job of a claim was handed out. */
export const deliveriesIn = (claimed: Claimed): readonly number[] =>
  claimed.kind === 'claimed' ? claimed.jobs.map((job) => job.deliveries) : [];

export const tokensIn = (claimed: Claimed): readonly number[] =>
  claimed.kind === 'claimed' ? claimed.jobs.map((job) => job.token) : [];

interface Size {
  readonly width?: number;
  readonly acksAtOnce?: number;
  readonly pageBytes?: number;
  readonly claimsMax?: number;
}

export const listKit = (
  { width = 3, acksAtOnce = 2, pageBytes, claimsMax }: Size = {},
  config = reportingOps(),
): ListKit => {
  const tables = emptyTables();
  const storesBehind = (gate: Gate) => ({
    fanOuts: memoryFanOuts(tables, gate, { width, acksAtOnce }),
    lists: memoryLists(tables, gate, { width, acksAtOnce }, pageBytes, claimsMax),
  });
  const base = stepKit({ ...memoryStores(tables), ...storesBehind(openGate) }, config);
  let adds = 0;
  const processOf = (kit: StepKit): Process => {
    const process: Process = Object.assign(kit, {
      tables,
      add: (what: number | readonly string[], name?: string) => {
        adds += 1;
        const jobs = typeof what === 'number' ? Array.from({ length: what }, (_, n) => `${name ?? ''}${n}`) : what;
        const payloads = jobs.map((job) => `{"depot":"MUC","job":"${job}"}`);
        return append(kit, LIST, payloads, token(name ?? `add-${adds}`));
      },
      claim: (claim: string, count: number, span = MINUTE) =>
        claimJobs(kit, LIST, { claim: claim as ClaimId, count, lease: span, holder: `${claim}'s worker` }),
      got: async (claim: string, count: number, span = MINUTE) => {
        const answer = await process.claim(claim, count, span);
        if (answer.kind !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(answer)}`);
        return answer;
      },
      complete: (handle: Handle, completion: Completion = 'succeeded') => complete(kit, LIST, held(handle), completion),
      renew: (handle: Handle, span = MINUTE) => renew(kit, LIST, held(handle), span),
      release: (handle: Handle, attempted?: readonly (number | AttemptedJob)[]) =>
        release(
          kit,
          LIST,
          held(handle),
          attempted?.map((job) => (typeof job === 'number' ? { token: job } : job)),
        ),
      break: (claim: string) => breakClaim(kit, LIST, { key: claimKeyOf(claim as ClaimId) }),
      trigger: (wanted: Wanted | number, name = 't') =>
        trigger(kit, LIST, typeof wanted === 'number' ? { count: wanted } : wanted, token(name)),
      patrol: () => patrolFanOuts(kit, () => true),
    });
    return process;
  };
  const process = processOf(base);
  return Object.assign(process, {
    open: async (fields: Partial<NewList> = {}) =>
      (await process.lists.open({ id: TRACKER, createdAt: NOW, operation: 'ship', ...fields }, NOW + 2 * MINUTE))
        .stored,
    read: async () => {
      const list = await process.lists.read(LIST);
      if (!list) throw new Error('the list does not exist');
      return list;
    },
    behind: (gate: Gate) => {
      const { queues } = base;
      // All processes share the clock and the sent messages.
      return processOf({
        ...base,
        ...storesBehind(gate),
        queues: {
          ...queues,
          register: (bodies) => through(gate, 'queues.register', () => queues.register(bodies)).then(() => {}),
          callbacks: (messages) => through(gate, 'queues.callbacks', () => queues.callbacks(messages)).then(() => {}),
        },
      });
    },
    start: async () => {
      const items: string[] = [];
      for (;;) {
        const body = process.sent.registered.shift();
        if (body === undefined) return items;
        const parsed = parseRegisterBody(process.config, { messageId: 'm', body });
        if (!parsed.ok || parsed.value.kind !== 'trigger') return items;
        const { valid, reached } = await triggeredJobs(process, new Judge('enforce', {}), [
          { message: { messageId: 'm', body }, asked: parsed.value.trigger },
        ]);
        items.push(...valid.map(({ job }) => job as string));
        await goOn(process, { reached });
      }
    },
    end: async (items: readonly string[], outcome: 'succeeded' | 'failed' = 'succeeded') => {
      const acks = items.map((each) => ({ item: parseStoredItem(each as never) as never, outcome }));
      await ackItems(process, acks);
    },
    done: () => doneOf(tables, width),
    sentCallbacks: () => process.sent.callbacks.map(({ event }) => JSON.parse(event)),
    patrolFor: async (span: number) => {
      for (const until = process.now + span; process.now < until; process.now += MINUTE) await process.patrol();
    },
  });
};

const doneOf = (tables: Tables, width: number): ReadonlyMap<number, boolean> => {
  const prefix = `${TRACKER}#0.`;
  const done = new Map<number, boolean>();
  for (const [key, { slots }] of tables.fanOutNodes) {
    if (!key.startsWith(prefix)) continue;
    const group = Number(key.slice(prefix.length));
    for (const [index, slot] of slots.entries()) if (slot !== null) done.set(group * width + index, slot);
  }
  return done;
};

/** Holds between any two writes: no job is lost, and no job belongs to two holders. */
export const expectWhole = (kit: ListKit): void => {
  const list = kit.tables.fanOuts.get(TRACKER) as List | undefined;
  if (list && list.status !== 'expired') expect([...faultsIn(kit, list), ...faultsInAdded(kit, list)]).toEqual([]);
};

const faultsIn = (kit: ListKit, { head, total, leases }: List): readonly string[] => {
  const done = kit.done();
  const faults: string[] = [];
  const hands = new Map<number, string>();
  const give = ({ first, count }: Range, to: string) => {
    for (let job = first; job < first + count; job += 1) {
      if (hands.has(job)) faults.push(`job ${job}: ${hands.get(job)} and ${to} have it`);
      if (job >= head) faults.push(`job ${job}: ${to} has it, and it is fresh`);
      hands.set(job, to);
    }
  };
  for (const lease of leases) give(lease, lease.key);
  for (const claim of kit.tables.listClaims.values())
    for (const lease of claim.leases) give(lease, `${lease.key}, apart`);
  for (const [name, { ranges }] of kit.tables.listTriggers) for (const range of ranges) give(range, name);
  for (let job = 0; job < head; job += 1) if (!hands.has(job) && !done.has(job)) faults.push(`job ${job} is lost`);
  for (const job of done.keys()) if (job >= head) faults.push(`job ${job} is done, and fresh`);
  if (head > total) faults.push(`${head} jobs were handed out, of ${total}`);
  return faults;
};

/** Appends follow each other without gaps, each stored once with all of its jobs. */
const faultsInAdded = ({ tables }: ListKit, { total }: List): readonly string[] => {
  const faults: string[] = [];
  let next = 0;
  for (const { first, count, token: name } of [...tables.listSegments.values()].sort((a, b) => a.first - b.first)) {
    const added = tables.listAppends.get(`${LIST}#${name}`);
    if (first !== next || added?.first !== first || added.count !== count) faults.push(`${name} is not at ${next}`);
    for (let index = 0; index < count; index += 1)
      if (!tables.listJobs.has(`${LIST}#${name}#${index}`)) faults.push(`job ${index} of ${name} is not there`);
    next += count;
  }
  if (next !== total) faults.push(`${next} jobs were added, of ${total}`);
  const added = [...tables.listAppends.values()].filter(({ first }) => first !== undefined);
  if (added.length !== tables.listSegments.size) faults.push('a token has no jobs, or two have the same');
  return faults;
};

/** The number of rows of a list besides its header. */
export const rowsLeft = ({ tables }: ListKit): number =>
  [
    tables.fanOutNodes,
    tables.listAppends,
    tables.listSegments,
    tables.listJobs,
    tables.listTriggers,
    tables.listClaims,
    tables.listResults,
  ].reduce((sum, { size }) => sum + size, 0);

/** A kit whose list holds `count` jobs. */
export const holding = async (count: number, size: Size = {}): Promise<ListKit> => {
  const kit = listKit(size);
  await kit.open();
  if (count > 0) await kit.add(count, 'add');
  return kit;
};
