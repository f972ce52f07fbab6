import { expect, it } from 'vitest';
import { type HealthInput, healthOf } from '../../../tools/console/page/src/model/health.ts';
import { ago, anOperation, aSeries, aTarget, metrics, NOW, queues } from './kit.ts';

const health = (input: Partial<HealthInput> = {}) =>
  healthOf({
    operations: [anOperation()],
    queues: queues(),
    targets: [aTarget()],
    metrics: metrics(),
    now: NOW,
    ...input,
  });
const words = (input: Partial<HealthInput>): string[] => health(input).troubles.map(({ word }) => word);

it('all is well if nothing fails, is late, or is paused', () => {
  const since = health({ metrics: metrics(aSeries('TasksSucceeded', [1, 2, 3])) });
  expect(since).toMatchObject({ troubles: [], headline: 'All is well' });
  expect(since.since).toMatch(/^No problem since .* when the metrics begin\.$/);
  expect(health().since).toBe('There was no activity recently.');
  expect(health({ metrics: undefined }).since).toMatch(/^There are no metrics/);
});

it('the time without problems begins at the end of the last problem', () => {
  const after = metrics(aSeries('DownstreamErrors', [1, 0, 0]), aSeries('TasksSucceeded', [1, 1, 1]));
  expect(health({ metrics: after }).since).toMatch(/^No problem since \S+\.$/);
});

it('an open circuit comes first, with the time of the next attempt', () => {
  const open = anOperation({
    circuit: 'open',
    failures: 5,
    paused: { by: 'circuit', since: ago(10), until: ago(-20) },
  });
  const paused = anOperation({ operation: 'sell', paused: { by: 'person', since: ago(3_600), reason: 'a strike' } });
  const { troubles, headline } = health({ operations: [paused, open] });
  expect(headline).toBe('1 problem needs attention');
  expect(troubles.map(({ word }) => word)).toEqual(['circuit open', 'paused']);
  expect(troubles[0]).toMatchObject({
    text: 'ship makes no calls, because its circuit is open: 5 attempts in a row failed, the last 10 s ago. Tasks wait; nothing is lost.',
    next: 'A batch tries the downstream again in 20 s, by itself.',
    route: { view: 'operation', name: 'ship' },
  });
  expect(troubles[1]?.text).toBe('sell was paused 1 h ago: a strike. Tasks wait; nothing is lost.');
});

it('an operation without a free slot, and a half-open circuit, are reported', () => {
  expect(words({ operations: [anOperation({ circuit: 'half-open', failures: 5 })] })).toEqual(['circuit half open']);
  const full = anOperation({ waitingTargets: 100, waitingTargetsIsAtLeast: true, slots: { taken: 2, total: 2 } });
  expect(health({ operations: [full] }).troubles[0]?.text).toBe(
    'At least 100 Targets of ship wait for a free slot: 2 of 2 slots are taken.',
  );
  expect(words({ operations: [{ ...full, slots: { taken: 1, total: 2 } }] })).toEqual([]);
});

it('dead letters and rejected messages are reported for each queue', () => {
  const { troubles } = health({ queues: queues({ batch: 2 }, 1) });
  expect(troubles.map(({ tone, text }) => `${tone}: ${text}`)).toEqual([
    'bad: 2 messages of the batch queue failed five times.',
    'warn: 1 message was rejected. It is in the rejected queue with the reasons.',
  ]);
});

it('failed tasks, repairs and failed callbacks are reported', () => {
  const view = metrics(aSeries('TasksFailed', [3]), aSeries('StrandedRepaired', [1]), aSeries('CallbacksFailed', [2]));
  expect(words({ metrics: view })).toEqual(['failed', 'callbacks', 'repaired']);
});

it('a Target is late if its tasks wait too long without a pause or a full slot queue', () => {
  const late = aTarget({ waiting: 1, oldestAt: ago(400) });
  expect(words({ targets: [late] })).toEqual(['late']);
  expect(words({ targets: [aTarget({ waiting: 1, oldestAt: ago(30) })] })).toEqual([]);
  const patient = anOperation({ lateAfterSeconds: 3_900 });
  expect(words({ targets: [late], operations: [patient] })).toEqual([]);
  expect(words({ targets: [{ ...late, blocked: { since: ago(400) } }] })).toEqual([]);
  expect(words({ targets: [{ ...late, paused: { by: 'person', since: ago(500) } }] })).toEqual(['paused']);
});
