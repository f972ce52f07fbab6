/**
 * Which reads each step makes, in order. An eventually consistent read costs half as much and may be seconds behind. A step that uses one
 * where it needs a strongly consistent read fails only if a replica lags, which no engine here shows.
 */
import { expect, it } from 'vitest';
import type { Answer } from '../../src/domain/downstream/downstream.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { register } from '../../src/steps/register/register.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { askRedriveOf } from '../../src/steps/tasks/redrive.ts';
import { cancel } from '../../src/steps/tasks/settle.ts';
import { aConfig, aPolicy, aRetry, id, NOW, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { PLENTY, type StepKit, stepKit } from './step-kit.ts';

/** All calls that only read. */
const READS = {
  tasks: ['members', 'readEventually', 'get', 'all', 'outlines', 'payload', 'failed', 'failedAnywhere', 'failures'],
  waiting: ['first', 'has', 'page', 'count'],
  locks: ['read', 'readAll', 'readEventually', 'slotPages', 'slotPagesEventually', 'slotPage', 'targets'],
  batches: ['get', 'ofTarget'],
  operations: ['read', 'waiting', 'isWaiting', 'slotPages', 'slotPagesEventually', 'slotPage'],
} as const;

const WHERE = target('ship/depot=MUC');
const BATCH = batchIdOf(WHERE, 1, 1);
const message = (n: number) => ({ messageId: `m-${n}`, body: body(n) });
const body = (n: number): string =>
  JSON.stringify({
    operation: 'ship',
    id: `t-${n}`,
    payload: { depot: 'MUC', n, s: n === 2 ? 'x'.repeat(2_000) : '' },
  });

/** A kit that records the reads of a step. */
const watched = (concurrency = { perTarget: null as number | null, total: null as number | null }) => {
  const config = aConfig({
    ...{ concurrency, circuit: { failures: 5, coolDown: 30_000 } },
    ...{ batch: aPolicy({ maxSize: 2, maxWait: 5_000 }), retry: aRetry({ immediate: 0 }) },
  });
  const kit = stepKit(memoryStores(), config);
  let reads: string[] = [];
  for (const [store, names] of Object.entries(READS)) {
    const calls = kit[store as keyof typeof READS] as unknown as Record<string, (...args: unknown[]) => unknown>;
    const noted = names.map((name) => [
      name,
      (...args: unknown[]) => {
        reads.push(`${store}.${name}`);
        return calls[name]?.(...args);
      },
    ]);
    Object.assign(kit, { [store]: { ...calls, ...Object.fromEntries(noted) } });
  }
  const during = async (step: (kit: StepKit) => Promise<unknown>): Promise<string> => {
    reads = [];
    await step(kit);
    return reads.join(', ');
  };
  return { kit, during };
};

/** Registers two tasks and seals their batch. Returns the reads of each step. */
const toBatch = async ({ kit, during }: ReturnType<typeof watched>) => ({
  register: await during(() => register(kit, [message(1), message(2)])),
  elect: await during(() => electLeader(kit, { kind: 'elect', target: WHERE })),
  group: await during(async () => {
    const { delay: _, ...guard } = kit.sent.group.shift() ?? { delay: 0 };
    await group(kit, guard as never, PLENTY);
  }),
});
const handled = ({ kit, during }: ReturnType<typeof watched>, answer: Answer) => {
  kit.answers = [answer];
  kit.calls.length = 0;
  return during(() => handleBatch(kit, { kind: 'due', batchId: BATCH }, PLENTY));
};
const UNAVAILABLE: Answer = { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false };

it('steps read a new task strongly consistently, except for the first read of members', async () => {
  const own = watched();
  expect(await toBatch(own)).toMatchInlineSnapshot(`
    {
      "elect": "locks.read, waiting.first",
      "group": "locks.read, waiting.first, operations.read, locks.read, waiting.first, locks.read, waiting.first",
      "register": "locks.readAll",
    }
  `);
  expect(await handled(own, UNAVAILABLE)).toMatchInlineSnapshot(
    `"batches.get, operations.read, locks.read, tasks.readEventually, tasks.members, operations.read"`,
  );
  own.kit.now += 60_000;
  expect(await handled(own, { kind: 'all-succeeded' }), 'later attempts').toMatchInlineSnapshot(
    `"batches.get, operations.read, locks.read, tasks.members, operations.read"`,
  );
  expect(await handled(own, UNAVAILABLE), 'of a finished batch').toMatchInlineSnapshot(`"batches.get"`);
});

it('steps make these reads under caps', async () => {
  const own = watched({ perTarget: 2, total: 2 });
  expect(await toBatch(own)).toMatchInlineSnapshot(`
    {
      "elect": "locks.read, waiting.first",
      "group": "locks.read, waiting.first, locks.read, waiting.first, locks.read, waiting.first",
      "register": "locks.readAll",
    }
  `);
  expect(await handled(own, { kind: 'all-succeeded' })).toMatchInlineSnapshot(
    `"batches.get, operations.read, locks.read, tasks.readEventually, tasks.members, waiting.first, operations.read, operations.waiting"`,
  );
});

it('register, redrive and cancel make these reads for known tasks', async () => {
  const own = watched();
  const { kit, during } = own;
  await toBatch(own);
  const error = { code: 'bad', message: 'm', retriable: false };
  await handled(own, { kind: 'results', items: new Map([[id('t-1'), { status: 'failed', error }]]), foreign: 0 });
  expect(await during(() => register(kit, [message(1), message(2), message(3)]))).toMatchInlineSnapshot(
    `"locks.readAll"`,
  );
  expect(
    await during(() => register(kit, [{ messageId: 'r', body: printRedrive({ id: id('t-1'), run: 1 }) }])),
  ).toMatchInlineSnapshot(`"tasks.get, locks.readAll"`);
  expect(await during(() => cancel(kit, id('t-3')))).toMatchInlineSnapshot(`"tasks.get, waiting.has"`);
  expect(await during(() => askRedriveOf(kit, WHERE, 'dry', { limit: 10 }))).toMatchInlineSnapshot(
    `"tasks.failed, tasks.outlines"`,
  );
});

it('the sweep scans Targets eventually consistently', async () => {
  const own = watched();
  await register(own.kit, [message(1)]);
  own.kit.now = NOW + 600_000;
  expect(await own.during(() => sweep(own.kit, PLENTY))).toMatchInlineSnapshot(
    `"operations.read, operations.slotPagesEventually, operations.waiting, locks.targets, locks.readEventually"`,
  );
});
