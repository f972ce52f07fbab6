import { describe, expect, it } from 'vitest';
import { CallLog } from '../../tools/verify-aws/loads/call-log.ts';
import type { Sent } from '../../tools/verify-aws/loads/send.ts';

const sent = (id: string, sentAt = 1_000): Sent => ({ id, sentAt, at: 0, operation: 'burst', payload: '{}' });
const call = (batchId: string, ids: readonly string[], at = 3_000, attempt = 1) => ({
  batchId,
  operation: 'burst',
  attempt,
  at,
  ids,
});

describe('the log of calls', () => {
  it('finds tasks that were in no call, and tasks in two batches', () => {
    const log = new CallLog();
    log.record(call('1', ['a', 'b']));
    log.record(call('2', ['b', 'c']));
    const tasks = ['a', 'b', 'c', 'd'].map((id) => sent(id));
    expect(log.called('burst', tasks, 1_000, 0)).toMatchObject({ tasks: 3, twice: 1, batches: 2, calls: 2 });
  });

  it('counts another attempt as a call, and a message delivered twice as one', () => {
    const log = new CallLog();
    log.record(call('1', ['a']));
    log.record(call('1', ['a']));
    log.record(call('1', ['a'], 4_000, 2));
    expect(log.called('burst', [sent('a')], 5_000, 0)).toMatchObject({ twice: 0, batches: 1, calls: 2 });
  });

  it('measures waits by the clock of AWS, and their part beyond maxWait', () => {
    const log = new CallLog();
    log.record(call('1', ['a'], 5_000, 2));
    log.record(call('1', ['a'], 4_000, 1));
    const { waits, late } = log.called('burst', [sent('a', 1_000)], 1_500, 500);
    expect([waits.max, late.max]).toEqual([2_500, 1_000]);
  });

  it('separates operations', () => {
    const log = new CallLog();
    log.record(call('1', ['a']));
    expect(log.called('sustained', [], 0, 0)).toMatchObject({ tasks: 0, batches: 0, calls: 0 });
  });
});
