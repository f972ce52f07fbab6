import { describe, expect, it } from 'vitest';
import { LEADER_TIMEOUT, LEADER_VISIBILITY, MAX_RECEIVES, MESSAGES_AT_ONCE, MINUTE } from '../../src/domain/timings.ts';
import {
  contradictionsIn,
  type Deployed,
  type QueueSettings,
  type WorkerSettings,
} from '../../tools/doctor/settings.ts';

const WEEKS = 14 * 24 * 60 * MINUTE;
const worker = (fields: Partial<WorkerSettings> = {}): WorkerSettings => ({
  timeout: LEADER_TIMEOUT,
  batchSize: MESSAGES_AT_ONCE.group,
  reportsFailures: true,
  isOn: true,
  maxConcurrency: 100,
  ...fields,
});
const group = (fields: Partial<QueueSettings> = {}): QueueSettings => ({
  queue: 'group',
  visibility: LEADER_VISIBILITY,
  retention: WEEKS,
  deadLetters: { afterReceives: MAX_RECEIVES, retention: WEEKS },
  worker: worker(),
  ...fields,
});
const deployed = (queue: QueueSettings, fields: Partial<Deployed> = {}): Deployed => ({
  queues: [queue],
  functions: [],
  tables: [],
  ...fields,
});
const rules = (of: Deployed) => contradictionsIn(of).map(({ rule }) => rule);
const { worker: _, ...unworked } = group();
const { deadLetters: __, ...withoutDeadLetters } = group();

describe('settings', () => {
  it('as they are deployed contradict nothing', () => {
    expect(contradictionsIn(deployed(group(), { tables: [{ name: 'Task', forgets: true }] }))).toEqual([]);
  });

  it.each<[what: string, queue: QueueSettings, rule: string]>([
    ['a message that comes back while it is worked on', group({ visibility: 20_000 }), 'visibility-timeout'],
    ['a function that outlives its lease', group({ worker: worker({ timeout: 50_000 }) }), 'timeout-lease'],
    ['a guard that comes before the lease has ended', group({ visibility: 45_000 }), 'lease-visibility'],
    ['a queue that nobody works off', unworked, 'no-worker'],
    ['an event source that is off', group({ worker: worker({ isOn: false }) }), 'source-off'],
    ['failures that are not told', group({ worker: worker({ reportsFailures: false }) }), 'failures-unreported'],
    ['more messages than there is time for', group({ worker: worker({ batchSize: 100 }) }), 'batch-size'],
    ['a function that is stopped', group({ worker: worker({ reserved: 0 }) }), 'reserved-none'],
    ['a function that is throttled', group({ worker: worker({ reserved: 10 }) }), 'reserved-few'],
    ['a queue without dead letters', withoutDeadLetters, 'no-dead-letters'],
    [
      'messages that are soon deleted',
      group({ retention: 60_000, deadLetters: { afterReceives: MAX_RECEIVES, retention: WEEKS } }),
      'short-retention',
    ],
    ['early dead letters', group({ deadLetters: { afterReceives: 1, retention: WEEKS } }), 'few-receives'],
    [
      'dead letters that are deleted at once',
      group({ deadLetters: { afterReceives: MAX_RECEIVES, retention: WEEKS / 2 } }),
      'letters-expire-first',
    ],
  ])('%s: that alone is found, with what to do', (_what, queue, rule) => {
    const found = contradictionsIn(deployed(queue));
    expect(found.map((each) => each.rule)).toEqual([rule]);
    expect(found[0]?.what).toContain('group');
    expect(found[0]?.do).toMatch(/\w{3}/);
  });

  it('let register messages be as many at once as a configuration may want', () => {
    const register = (batchSize: number) =>
      group({ queue: 'register', visibility: 121_000, worker: worker({ batchSize }) });
    expect(rules(deployed(register(500)))).toEqual([]);
    expect(rules(deployed(register(501)))).toEqual(['batch-size']);
  });

  it('of a queue that leads nobody know no lease', () => {
    const batch = group({ queue: 'batch', visibility: 180_000, worker: worker({ timeout: 90_000, batchSize: 5 }) });
    expect(rules(deployed(batch))).toEqual([]);
    expect(rules(deployed({ ...batch, visibility: 90_000 }))).toEqual(['visibility-timeout']);
  });

  it('name a table that keeps everything for ever', () => {
    const found = contradictionsIn(deployed(group(), { tables: [{ name: 'Task', forgets: false }] }));
    expect(found).toMatchObject([{ rule: 'no-expiry', what: expect.stringContaining('the table Task') }]);
  });

  it('may have an event source without a maximum: then any reserved concurrency throttles', () => {
    const { maxConcurrency: ___, ...free } = worker({ reserved: 900 });
    expect(rules(deployed(group({ worker: free })))).toEqual(['reserved-few']);
  });
});
