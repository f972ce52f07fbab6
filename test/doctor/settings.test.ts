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

describe('the settings', () => {
  it('of a deployed stack have no contradiction', () => {
    expect(contradictionsIn(deployed(group(), { tables: [{ name: 'Task', forgets: true, indexes: [] }] }))).toEqual([]);
  });

  it.each<[what: string, queue: QueueSettings, rule: string]>([
    ['a visibility shorter than the timeout', group({ visibility: 20_000 }), 'visibility-timeout'],
    ['a timeout longer than the lease', group({ worker: worker({ timeout: 50_000 }) }), 'timeout-lease'],
    ['a visibility shorter than the lease', group({ visibility: 45_000 }), 'lease-visibility'],
    ['a queue without a function', unworked, 'no-worker'],
    ['a disabled event source', group({ worker: worker({ isOn: false }) }), 'source-off'],
    ['unreported failures', group({ worker: worker({ reportsFailures: false }) }), 'failures-unreported'],
    ['a batch size too large for the timeout', group({ worker: worker({ batchSize: 100 }) }), 'batch-size'],
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
      'dead letters that expire too soon',
      group({ deadLetters: { afterReceives: MAX_RECEIVES, retention: WEEKS / 2 } }),
      'letters-expire-first',
    ],
  ])('with %s: only this fault is found', (_what, queue, rule) => {
    const found = contradictionsIn(deployed(queue));
    expect(found.map((each) => each.rule)).toEqual([rule]);
    expect(found[0]?.what).toContain('group');
    expect(found[0]?.do).toMatch(/\w{3}/);
  });

  it('allow the largest configurable batch of register messages', () => {
    const register = (batchSize: number) =>
      group({ queue: 'register', visibility: 121_000, worker: worker({ batchSize }) });
    expect(rules(deployed(register(500)))).toEqual([]);
    expect(rules(deployed(register(501)))).toEqual(['batch-size']);
  });

  it('of a queue without leaders need not fit a lease', () => {
    const batch = group({ queue: 'batch', visibility: 180_000, worker: worker({ timeout: 90_000, batchSize: 5 }) });
    expect(rules(deployed(batch))).toEqual([]);
    expect(rules(deployed({ ...batch, visibility: 90_000 }))).toEqual(['visibility-timeout']);
  });

  it('of a table without expiry are a contradiction', () => {
    const found = contradictionsIn(deployed(group(), { tables: [{ name: 'Task', forgets: false, indexes: [] }] }));
    expect(found).toMatchObject([{ rule: 'no-expiry', what: expect.stringContaining('the table Task') }]);
  });

  it('without a maximum concurrency contradict any reserved concurrency', () => {
    const { maxConcurrency: ___, ...free } = worker({ reserved: 900 });
    expect(rules(deployed(group({ worker: free })))).toEqual(['reserved-few']);
  });
});
