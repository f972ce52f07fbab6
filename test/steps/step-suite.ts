/** Runs the tests of the steps on the stores in memory and on the embedded engine. */
import { beforeEach } from 'vitest';
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import type { Target, TaskId } from '../../src/domain/ids.ts';
import { printRejection } from '../../src/domain/register/rejection.ts';
import type { DeadLetter } from '../../src/ports/queues.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { register } from '../../src/steps/register/register.ts';
import { aConfig, aPolicy, id, NOW, target, token } from '../factories/factories.ts';
import { describeEach } from '../ports/describe-each.ts';
import { storeKinds } from '../ports/stores.ts';
import { type StepKit, stepKit } from './step-kit.ts';

/** The tests of a file share the engines, so each test works on a Target of its own. */
let made = 0;
export let depot: string;
export let where: Target;
export let kit: StepKit;
export const config = aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 5_000 }) });

export const suite = (subject: string, tests: (fresh: () => StepKit) => void): void =>
  describeEach(subject, storeKinds, (stores) => {
    const fresh = (): StepKit => stepKit(stores(), config);
    beforeEach(() => {
      made += 1;
      depot = `S${made}`;
      where = target(`ship/depot=${depot}`);
      kit = fresh();
    });
    tests(fresh);
  });

/** The kit with changed operations. */
export const kitWith = (change: Partial<Operation>, more: Partial<Config> = {}): StepKit => ({
  ...kit,
  config: {
    ...kit.config,
    operations: Object.fromEntries(
      Object.entries(kit.config.operations).map(([name, operation]) => [name, { ...operation, ...change }]),
    ),
    ...more,
  },
});

export const message = (n: number, extra: object = {}) => ({
  messageId: `${depot}-message-${n}`,
  sentAt: NOW,
  body: JSON.stringify({ operation: 'ship', id: `${depot}-${n}`, payload: { depot, n }, ...extra }),
});
const ids = (count: number): TaskId[] => Array.from({ length: count }, (_, n) => id(`${depot}-${n}`));
export const registered = async (count: number): Promise<TaskId[]> => {
  await register(
    kit,
    Array.from({ length: count }, (_, n) => message(n)),
  );
  return ids(count);
};
/** Registers tasks and lets their leader take the lock. */
export const led = async (count: number): Promise<TaskId[]> => {
  const tasks = await registered(count);
  await electLeader(kit, { kind: 'elect', target: where });
  return tasks;
};
/** A dead letter that was sent again `n` times. */
export const deadLetter = (body: string, n = 0): DeadLetter => ({
  messageId: `letter-${n}`,
  body,
  revivals: n,
  sentAt: NOW,
  firstSentAt: NOW,
  receipt: `receipt-${n}`,
});
/** A rejected message that was refused once, with its original body. */
export const refused = (body: string, n = 0): DeadLetter =>
  deadLetter(printRejection({ messageId: `refused-${n}`, body, problems: [{ path: '', reason: 'odd' }], at: NOW }), n);
export const guard = (fence = 1, hint?: true) => ({
  target: where,
  fence,
  token: token(`token-${fence}`),
  ...(hint ? { hint } : {}),
});
export const lock = () => kit.locks.read(where);
