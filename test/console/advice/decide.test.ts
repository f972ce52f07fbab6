import { describe, expect, it } from 'vitest';
import {
  adviceFrom,
  isLike,
  isQuestion,
  nearestTo,
  otherLoad,
  type Present,
  questionFor,
} from '../../../tools/console/server/advice/decide.ts';
import type { Measured } from '../../../tools/console/server/advice/measured.ts';
import type { ShownPolicy } from '../../../tools/console/server/advice/policy.ts';
import type { Tried } from '../../../tools/simulate/vary.ts';

const measured = (fields: Partial<Measured> = {}): Measured => ({
  tasks: 600,
  span: 600_000,
  batches: 500,
  fill: 0.012,
  sealedBy: 'waited',
  callTakes: 50,
  ...fields,
});

const policy = (fields: Partial<ShownPolicy> = {}): ShownPolicy => ({
  operation: 'ship',
  maxSize: 100,
  isMerging: false,
  hasOneTarget: false,
  waitSetting: 'maxWait',
  wait: 1_000,
  quietPeriod: 0,
  input: {},
  ...fields,
});

const tried = (maxWait: number, calls: number, perMillion: number, size = 600 / calls): Tried => ({
  policy: { maxWait },
  wait: { mean: maxWait / 2, p50: maxWait, p95: maxWait, p99: maxWait + 200, max: maxWait },
  ...{ calls, callsPerHour: calls, fill: size / 100, size, perDay: 1, perMillion },
});

const question = (of: Partial<Measured>, shown: Partial<ShownPolicy> = {}) => {
  const found = questionFor(measured(of), policy(shown));
  return isQuestion(found) ? found : { kind: found.kind, text: found.text };
};

describe('before the simulations', () => {
  it('asks what longer waits would bring, up to thirty times as long', () => {
    expect(question({})).toEqual({ setting: 'maxWait', now: 1_000, values: [2_000, 5_000, 10_000, 20_000, 30_000] });
    expect(question({}, { wait: 0 })).toMatchObject({ values: [100, 200, 500, 1_000, 2_000, 5_000, 10_000] });
    expect(question({}, { waitSetting: 'window', wait: 60_000 })).toMatchObject({
      setting: 'window',
      values: [120_000, 300_000, 600_000],
    });
  });

  it('asks about the quiet period if that seals most batches', () => {
    expect(question({ sealedBy: 'quiet' }, { wait: 5_000, quietPeriod: 500 })).toEqual({
      setting: 'quietPeriod',
      now: 500,
      values: [1_000, 2_000],
    });
  });

  it('says what is missing if there are too few figures', () => {
    const { kind, text } = question({ tasks: 49, batches: 40, span: 20_000 }) as { kind: string; text: string };
    expect(kind).toBe('too-few-figures');
    expect(text).toBe(
      'There are too few figures for advice: 49 tasks and 40 batches in 20 s. It needs at least 50 tasks and 10 batches, over at least 15 s.',
    );
    expect(question({ batches: 9 })).toMatchObject({ kind: 'too-few-figures' });
    // In ten minutes, a wait of five minutes ends twice.
    expect(question({}, { wait: 300_000 })).toMatchObject({ kind: 'too-few-figures' });
    expect(question({ tasks: 0, batches: 0, span: 0 })).toMatchObject({ kind: 'too-few-figures' });
  });

  it('says why a longer wait would not help', () => {
    expect(question({ fill: 0.8 })).toEqual({
      kind: 'nothing',
      text: 'There is nothing to improve: its batches are full.',
    });
    expect(question({ sealedBy: 'bytes' })).toMatchObject({ text: expect.stringContaining('batch.maxBytes') });
    expect(question({ sealedBy: 'weight' })).toMatchObject({ text: expect.stringContaining('batch.maxWeight') });
    expect(question({ sealedBy: 'bypass' })).toMatchObject({ text: expect.stringContaining('bypass') });
    expect(question({ sealedBy: 'flush' })).toMatchObject({ text: expect.stringContaining('flushed by a user') });
    expect(question({}, { isMerging: true })).toMatchObject({ text: expect.stringContaining('--trace FILE') });
  });
});

describe('the simulated load', () => {
  const present = (targets: number, size: number): Present => ({ targets, tried: tried(1_000, 1, 1, size) });

  it('is the one whose batches have most nearly the measured size', () => {
    const all = [present(1, 11), present(5, 3), present(20, 1.5)];
    expect(nearestTo(2.6, all)?.targets).toBe(5);
    expect(nearestTo(1, all)?.targets).toBe(20);
    expect(nearestTo(1, [])).toBeUndefined();
  });

  it('is refused if its batches are much smaller or larger', () => {
    expect(isLike(10, present(1, 8))).toBe(true);
    expect(isLike(10, present(1, 7))).toBe(false);
    expect(otherLoad(measured(), policy())).toMatchObject({
      kind: 'other-load',
      text: expect.stringContaining('groupage simulate --operation ship --trace FILE'),
    });
  });
});

describe('after the simulations', () => {
  const present: Present = { targets: 5, tried: tried(1_000, 500, 15) };
  const asked = { setting: 'maxWait' as const, now: 1_000, values: [2_000, 10_000, 30_000] };

  it('names the change, its gain, its cost, and what was measured', () => {
    const longer = [tried(2_000, 430, 14), tried(10_000, 100, 8), tried(30_000, 80, 7.5)];
    expect(adviceFrom(measured(), policy(), asked, present, longer)).toEqual({
      operation: 'ship',
      kind: 'change',
      measured:
        'In 10 min, 600 tasks were registered (60 tasks a minute) and 500 batches sealed, with 1.2 tasks on average: 1% of batch.maxSize (100).',
      change: { setting: 'batch.maxWait', from: '1s', to: '10s' },
      text: 'With batch.maxWait 10s instead of 1s, a batch would have about 6 tasks: 80% fewer calls and about $7.00 less per million tasks on AWS. In return a task would wait 5 s on average instead of 500 ms, and at most about 10.2 s.',
      basis:
        'Simulated with the measured rate, spread evenly over about 5 Targets, which gives 1.2 tasks per batch with the present settings. For another load: groupage simulate --operation ship --trace FILE',
    });
  });

  it('prefers the shortest wait with half of the saving', () => {
    const even = [tried(11_000, 400, 12), tried(21_000, 300, 10), tried(31_000, 200, 8)];
    const { change } = adviceFrom(measured(), policy(), asked, present, even);
    expect(change?.to).toBe('21s');
  });

  it('does not promise a lower cost that the simulation does not show', () => {
    const { text } = adviceFrom(measured(), policy(), asked, present, [tried(10_000, 100, 16)]);
    expect(text).toContain('80% fewer calls. In return');
  });

  it('says so if a longer wait saves little', () => {
    for (const longer of [[], [tried(10_000, 410, 14)]])
      expect(adviceFrom(measured(), policy(), asked, present, longer)).toMatchObject({
        kind: 'nothing',
        text: 'There is nothing to improve: a longer batch.maxWait would save less than 20% of the calls.',
      });
  });
});
