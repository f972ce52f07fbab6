import { describe, expect, it } from 'vitest';
import type { FanOutId } from '../../src/domain/fan-out-ids.ts';
import { describe as lineOf } from '../../tools/local/activity.ts';
import { batchId, NOW, operationName, target } from '../factories/factories.ts';

const tracker = (id: string): FanOutId => id as FanOutId;

describe('npm start', () => {
  it('gives no count of failures if one failure opened the circuit', () => {
    const opened = { event: 'circuit-opened', operation: operationName('ship'), until: NOW, failures: 5 } as const;
    expect(lineOf({ ...opened, reason: 'answered 503' })).toBe(
      '⏸ the circuit of ship is open, so its tasks wait (5 failures in a row): answered 503',
    );
    expect(lineOf({ ...opened, reason: 'answered 403', isMisconfigured: true })).toBe(
      '⏸ the circuit of ship is open, so its tasks wait: answered 403',
    );
  });

  const postponed = {
    event: 'postponed',
    batchId: batchId('b#1#1'),
    operation: operationName('b'),
    open: 3,
    retryAt: NOW,
  } as const;
  it.each([
    ['are called again', { ...postponed, reason: 'answered 503' }, '↻ b#1#1  3 to be retried later: answered 503'],
    [
      'report later',
      { ...postponed, pending: 3, reason: 'its job reports later' },
      '… b#1#1  3 pending: its job reports later',
    ],
    [
      'are called again or report later',
      { ...postponed, pending: 2, reason: 'answered retry' },
      '↻ b#1#1  1 to be retried later, 2 pending: answered retry',
    ],
  ] as const)('prints a line for tasks that %s', (_, event, line) => expect(lineOf(event)).toBe(line));

  const repaired = {
    event: 'repaired',
    operation: operationName('ship'),
    target: target('ship/depot=MUC'),
    since: NOW,
  } as const;
  const letter = { event: 'revived', messageId: 'm', revivals: 2, delay: 0 } as const;

  it.each([
    [
      'tasks without a leader',
      { ...repaired, finding: 'stranded' },
      '↻ repaired: tasks of ship/depot=MUC waited without a leader',
    ],
    [
      'a dead leader',
      { ...repaired, finding: 'expired-lock' },
      '↻ repaired: the lease of the leader of ship/depot=MUC had expired',
    ],
    [
      'an unfinished batch',
      { ...repaired, finding: 'leaderless-batch', batchId: batchId('b#1#1') },
      '↻ repaired: b#1#1 was not sealed and had no leader',
    ],
    [
      'a lost batch message',
      { ...repaired, finding: 'overdue-batch', batchId: batchId('b#1#1') },
      '↻ repaired: the message of b#1#1 was lost',
    ],
    ['redriven tasks', { event: 'redriven', operation: operationName('ship'), tasks: 2 }, '↻ 2 tasks of ship redriven'],
    [
      'a dead letter',
      { ...letter, queue: 'elect' },
      '↻ dead letter of the elect queue sent again (number of resends: 2)',
    ],
    ['a rejected message', { ...letter, queue: 'rejected' }, '↻ rejected message sent again'],
  ] as const)('prints a line for %s after a repair', (_, event, line) => expect(lineOf(event)).toBe(line));

  const ended = { event: 'fan-out-ended', status: 'complete', because: 'all-done', total: 1, failed: 0 } as const;
  it.each([
    ['a fan-out', { ...ended, fanOut: tracker('catalog') }, '✓ fan-out catalog complete (all-done): 1 item, 0 failed'],
    ['a list', { ...ended, fanOut: tracker('~night') }, '✓ list night complete (all-done): 1 job, 0 failed'],
    [
      'a list that the patrol completed',
      { event: 'fan-out-repaired', fanOut: tracker('~night') },
      '↻ repaired: list night was done but not completed',
    ],
    [
      'a list without its destination',
      { event: 'fan-out-untold', fanOut: tracker('~night'), destination: 'ops' },
      '✗ no event was sent for list night, because the destination ops is not configured',
    ],
  ] as const)('prints the name of %s', (_, event, line) => expect(lineOf(event)).toBe(line));
});
