/** The environment of the list benchmarks: the embedded engine, the template's tables, the real steps, and a meter. */
import { strict as assert } from 'node:assert';
import { setTimeout } from 'node:timers/promises';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { dynamoDBLists } from '../../src/aws/dynamodb-lists.ts';
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import type { Token } from '../../src/domain/ids.ts';
import { type ClaimId, type ListId, listId, parseHandle, trackerOf } from '../../src/domain/lists/ids.ts';
import { within } from '../../src/ports/machine.ts';
import type { ListDeps } from '../../src/steps/deps.ts';
import { append } from '../../src/steps/lists/append.ts';
import { type Named, namedBy } from '../../src/steps/lists/held.ts';
import { synthesise } from '../../tools/local/assembly.ts';
import { localClients } from '../../tools/local/clients.ts';
import { startEngines } from '../../tools/local/engines.ts';
import { createTables } from '../../tools/local/resources.ts';
import { CloudAssembly } from '../../tools/local/template.ts';
import { add, type Bill, metered, newBill, total } from '../meter.ts';

/** The groups of a list's units: the list's row, the nodes of its tracker, and the rows of its jobs and results. */
export const LIST_ROW = 'list row';
export const TRACKER = 'tracker';

export interface World {
  readonly deps: ListDeps;
  readonly bill: Bill;
  readonly clients: ReturnType<typeof localClients>;
  readonly events: readonly FlowEvent[];
  readonly callbacks: readonly CallbackMessage[];
  /**
   * The number of conditional writes that were refused because another claimer was faster. Their cost is in the bill.
   */
  readonly refused: ReadonlyMap<string, number>;
  /** Advances the clock, so that leases end without real waiting. */
  passTime(ms: number): void;
  stop(): Promise<void>;
}

interface Keyed {
  readonly Key?: { readonly Id?: string };
  readonly Item?: { readonly Id?: string };
}

const idOf = (input: object): string => {
  const { Key, Item } = input as Keyed;
  return (Key ?? Item)?.Id ?? '';
};

export const startWorld = async (): Promise<World> => {
  const parsed = parseConfig({
    operations: { ship: { target: [], downstream: { kind: 'http', url: 'http://127.0.0.1:9/' } } },
    destinations: { ops: { kind: 'queue', name: 'ops' } },
    lists: { callback: 'ops' },
  });
  assert(parsed.ok);
  const engines = await startEngines({ ports: { dynamodb: 0, sqs: 0 } });
  const endpoints = { dynamodb: engines.dynamodb.endpoint, sqs: engines.sqs.endpoint };
  const assembly = new CloudAssembly(synthesise(parsed.value), endpoints);
  await createTables(assembly, localClients(endpoints).dynamodb);
  const named = (end: string): string =>
    assembly.all('AWS::DynamoDB::Table').find(({ name }) => name.endsWith(end))?.name ?? '';
  const [headers, table] = [named('Tables-FanOut'), named('Tables-List')];
  const bill = newBill();
  const refused = new Map<string, number>();
  let moved = 0;
  const nameOf = (of: string | undefined, command: string, input: object): string => {
    if (of !== headers) return `${of} ${command}`;
    return idOf(input).includes('#') ? TRACKER : LIST_ROW;
  };
  // Many requests at once on few processors may take seconds, so the clients have no timeout.
  const clients = metered(localClients({ ...endpoints, patient: true }), bill, {
    nameOf,
    onRefusal: (name, units) => {
      add(bill.writeUnits, name, units);
      add(refused, name);
    },
  });
  const events: FlowEvent[] = [];
  const callbacks: CallbackMessage[] = [];
  const deps: ListDeps = {
    config: parsed.value,
    fanOuts: dynamoDBFanOuts(clients.dynamodb, headers),
    lists: dynamoDBLists(clients.dynamodb, headers, table),
    queues: { callbacks: async (messages) => void callbacks.push(...messages), register: async () => {} },
    machine: {
      now: () => Date.now() + moved,
      sleep: async (span) => setTimeout(span),
      within,
      random: Math.random,
      token: () => 'none' as Token,
    },
    report: (event) => void events.push(event),
  };
  const passTime = (ms: number): void => {
    moved += ms;
  };
  return { deps, bill, clients, events, callbacks, refused, passTime, stop: () => engines.stop() };
};

/** The units of each kind, by group. */
export interface Spent {
  readonly write: ReadonlyMap<string, number>;
  readonly read: ReadonlyMap<string, number>;
}

/** Runs a function. @returns the units that it spent, and its result */
export const spending = async <T>({ bill }: Pick<World, 'bill'>, run: () => Promise<T>): Promise<[T, Spent]> => {
  const [writes, reads] = [new Map(bill.writeUnits), new Map(bill.readUnits)];
  const answer = await run();
  return [answer, { write: less(bill.writeUnits, writes), read: less(bill.readUnits, reads) }];
};

const less = (now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): Map<string, number> => {
  const spent = new Map<string, number>();
  for (const [name, units] of now) add(spent, name, units - (before.get(name) ?? 0));
  return spent;
};

/** All units except those of the group `but`. */
export const totalBut = (units: ReadonlyMap<string, number>, but: string): number =>
  total(units) - (units.get(but) ?? 0);

export const newListId = (name: string): ListId => {
  const id = listId(name);
  assert(id);
  return id;
};

/** The number of jobs per call. */
const APPEND = 1_000;

/** Opens a list of jobs. All payloads have the same size, so the rows of jobs have the same size too. */
export const openList = async (
  { deps }: Pick<World, 'deps'>,
  id: ListId,
  jobs: number,
  name?: string,
): Promise<void> => {
  const { lists, machine } = deps;
  const userKey = name === undefined ? {} : { userKey: name };
  const opened = { id: trackerOf(id), createdAt: machine.now(), operation: 'ship', ...userKey };
  await lists.open(opened, machine.now() + 3_600_000);
  for (let first = 0; first < jobs; first += APPEND) {
    const payloads = Array.from({ length: Math.min(APPEND, jobs - first) }, (_, n) => payloadOf(first + n));
    const added = await append(deps, id, payloads, `add-${first}` as Token);
    assert(added.kind === 'appended');
  }
};

/** A payload of about a hundred bytes. */
export const payloadOf = (job: number): string =>
  JSON.stringify({ job: String(job).padStart(9, '0'), parcel: 'x'.repeat(70) });

/** The claim that a handle names, as the API reads it. */
export const heldBy = (id: ListId, handle: string): Named => {
  const held = parseHandle(id, handle);
  assert(typeof held !== 'string');
  return namedBy(held);
};

export const claimNamed = (name: string): ClaimId => name as ClaimId;
/** A token for a trigger or an addition. */
export const tokenNamed = (name: string): Token => name as Token;
