import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { draw, type Snapshot } from '../../tools/cli/commands/watch.ts';

const AT = Date.parse('2026-01-01T00:01:00Z');
const batch = {
  id: 'b',
  target: 't',
  status: 'succeeded',
  sealedBy: 'full',
  size: 50,
  fill: 0.5,
  attempt: 1,
  createdAt: '2026-01-01T00:00:57Z',
};
const row = (target: string, fields: object = {}): Snapshot['rows'][number] => ({
  target,
  operation: 'ship',
  waiting: 0,
  leader: null,
  batches: [],
  ...fields,
});
const operation = (name: string, fields: object = {}): Snapshot['operations'][number] => ({
  operation: name,
  circuit: 'closed',
  failures: 0,
  waitingTargets: 0,
  ...fields,
});
const picture = (
  rows: Snapshot['rows'],
  screen = { width: 140, height: 40 },
  operations: Snapshot['operations'] = [],
): string[] => {
  const snapshot = { url: 'http://127.0.0.1:4500/v1', at: AT, rows, operations, isAll: true };
  return stripVTControlCharacters(draw(snapshot, screen)).split('\n');
};

it('the watch picture says what to do if there is no task yet', () => {
  expect(picture([]).at(-1)).toContain('groupage send OPERATION PAYLOAD');
});

it('the watch picture sums up, and shows the Target with most waiting tasks first', () => {
  const lines = picture([
    row('ship/depot=quiet', { batches: [{ ...batch, counts: { succeeded: 49, failed: 1 } }] }),
    row('ship/depot=busy', {
      waiting: 1_200,
      waitingIsAtLeast: true,
      oldestAt: '2026-01-01T00:00:50Z',
      leader: { fence: 3, lockedUntil: '' },
    }),
  ]);
  expect(lines[1]).toBe('at least 1,200 waiting in 2 Targets · 1 leader · recent batches 50% full · 1 task failed');
  expect(lines[4]).toMatch(/^ship\/depot=busy\s+≥ 1,200\s+10 s\s+waiting$/);
  expect(lines[5]).toMatch(/^ship\/depot=quiet\s+0\s+1\s+succeeded 3\.0 s\s+█████░░░░░ 50$/);
});

it('the watch picture shows all columns in 80 characters', () => {
  const busy = { waiting: 7, oldestAt: '2026-01-01T00:00:50Z', leader: { fence: 1, lockedUntil: '' } };
  const failing = { batches: [{ ...batch, status: 'in-progress', counts: { succeeded: 1, failed: 49 } }] };
  const lines = picture([row('ship/depot=FRANKFURT-AM-MAIN', { ...busy, ...failing })], { width: 80, height: 24 });
  expect(lines.at(-1)).toMatch(/MAIN\s+7\s+10 s\s+waiting\s+49\s+in-progress 3\.0 s\s+50%$/);
});

it('the watch picture names operations that are held up, and paused or blocked Targets', () => {
  const paused = { by: 'person', since: '2026-01-01T00:00:50Z', reason: 'fog\u001b[2J' };
  const open = { by: 'circuit', since: '2026-01-01T00:00:50Z', until: '2026-01-01T00:01:20Z', reason: 'answered 503' };
  const rows = [row('ship/depot=a', { paused }), row('ship/depot=b', { blocked: { since: '' } }), row('ship/depot=c')];
  const screen = { width: 140, height: 40 };
  const lines = picture(rows, screen, [
    operation('fine', { slots: { taken: 1, total: 2 }, waitingTargets: 1 }),
    operation('port', { paused }),
    operation('mail', { circuit: 'open', paused: open }),
    operation('late', { circuit: 'open', paused: { ...open, until: '2026-01-01T00:00:59Z' } }),
    operation('back', { circuit: 'half-open', failures: 5 }),
    operation('full', { slots: { taken: 2, total: 2 }, waitingTargets: 1 }),
  ]);
  expect(lines.slice(2, 7)).toEqual([
    'port: paused for 10 s: fog\ufffd[2J',
    'mail: circuit open for 10 s, next trial call in 20 s: answered 503',
    'late: circuit open for 10 s, next trial call due now: answered 503',
    '… and 2 operations more: groupage operations',
    '',
  ]);
  expect(lines.slice(8).map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['ship/depot=a', '0', 'paused'],
    ['ship/depot=b', '0', 'blocked'],
    ['ship/depot=c', '0'],
  ]);
  const [, blocked] = picture(rows, screen, [operation('ship', { paused })]).filter((line) => line.startsWith('ship/'));
  expect(blocked).toMatch(/^ship\/depot=b\s+0\s+paused$/);
  expect(picture(rows, screen, [operation('back', { circuit: 'half-open', failures: 5 })])[2]).toBe(
    'back: the circuit is half-open after 5 failures; it closes if the next batch succeeds, and opens again if that batch fails',
  );
  const failed = { circuit: 'half-open', failures: 5, lastFailure: 'answered 503' } as const;
  expect(picture(rows, screen, [operation('back', failed)])[2]).toMatch(
    /^back: the circuit is half-open after 5 failures; .*/,
  );
  expect(picture(rows, { width: 240, height: 40 }, [operation('back', failed)])[2]).toMatch(
    / if that batch fails\. The last failure: answered 503$/,
  );
  expect(picture(rows, screen, [operation('full', { slots: { taken: 2, total: 2 }, waitingTargets: 1 })])[2]).toBe(
    'full: Targets wait because there is no free slot (2 of 2 are taken)',
  );
});

it('the watch picture fits its screen', () => {
  const rows = Array.from({ length: 100 }, (_, n) => row(`ship/depot=${'long'.repeat(30)}-${n}`, { waiting: n }));
  for (const screen of [
    { width: 80, height: 24 },
    { width: 200, height: 50 },
    { width: 40, height: 10 },
  ]) {
    const paused = Array.from({ length: 9 }, (_, n) =>
      operation(`long-${'name'.repeat(30)}-${n}`, { paused: { by: 'person', since: '2026-01-01T00:00:50Z' } }),
    );
    const lines = picture(rows, screen, paused);
    expect(lines.length).toBeLessThanOrEqual(screen.height);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(screen.width);
    expect(lines.at(-1)).toMatch(/… and \d+ more/);
  }
});
