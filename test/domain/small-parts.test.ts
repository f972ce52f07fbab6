import { describe, expect, it } from 'vitest';
import { finishedStatus, membersOf } from '../../src/domain/batches/batch.ts';
import {
  parseBatch,
  parseElect,
  parseGroup,
  printBatch,
  printElect,
  printGroup,
} from '../../src/domain/batches/messages.ts';
import { parseCallback } from '../../src/domain/callbacks/callback.ts';
import { batchIdOf, parseCandidate, taskId } from '../../src/domain/ids.ts';
import { NewerMessage, UnreadableMessage } from '../../src/domain/messages.ts';
import { parseRedrive } from '../../src/domain/register/redrive-message.ts';
import { withId } from '../../src/domain/register/register-body.ts';
import { delayPast, delaySeconds } from '../../src/domain/timings.ts';
import { advance } from '../../src/steps/repair/patrol.ts';
import { batchId, candidate, NOW, operationName, target, token } from '../factories/factories.ts';

describe('an identifier', () => {
  it('of a task accepts exactly what the contract allows', () => {
    for (const good of ['a', '7', 'a:b@c.d_e-f', 'x'.repeat(128)]) expect(taskId(good)).toBe(good);
    for (const bad of ['', '-a', 'a b', 'ä', 'a\n', 'a#1', 'x'.repeat(129)]) expect(taskId(bad)).toBeUndefined();
  });

  it('of a batch has Target, fence and round; a long Target is hashed', () => {
    expect(batchIdOf(target('ship/depot=MUC'), 3, 7)).toBe('ship/depot=MUC#3#7');
    const long = batchIdOf(target(`ship/depot=${'x'.repeat(300)}`), 3, 7);
    expect(long).toMatch(/^ship\/[\w-]{22}#3#7$/);
    expect(batchIdOf(target(`ship/depot=${'x'.repeat(299)}`), 3, 7)).not.toBe(long);
  });

  it('of a candidate is read back', () => {
    expect(parseCandidate(candidate('a:b', 12))).toEqual({ id: 'a:b', run: 12 });
  });
});

describe('a delay', () => {
  it('rounds down to what SQS can do, unless nearly a second is left', () => {
    expect([0, 500, 799, 800, 1_000, 1_799, 1_800, 5_400].map(delaySeconds)).toEqual([0, 0, 0, 1, 1, 1, 2, 5]);
  });

  it('never exceeds the 15 minutes of SQS', () => {
    expect(delaySeconds(7_200_000)).toBe(900);
    expect(delaySeconds(900_000)).toBe(900);
    expect(delayPast(NOW + 7_200_000, NOW)).toBe(900);
  });

  it('past a moment always ends after it', () => {
    for (const wait of [-5_000, 0, 1, 999, 1_000, 1_001, 59_999])
      expect(delayPast(NOW + wait, NOW) * 1_000).toBeGreaterThan(wait);
  });
});

describe('a batch', () => {
  it('has the candidates that were not dropped as members, in their order', () => {
    const candidates = [candidate('a'), candidate('b'), candidate('c')];
    expect(membersOf({ candidates, dropped: [candidate('b')] })).toEqual(['a', 'c']);
  });

  it('has the status that follows from its members', () => {
    expect(finishedStatus({ succeeded: 3, failed: 0 })).toBe('succeeded');
    expect(finishedStatus({ succeeded: 2, failed: 1 })).toBe('partly-failed');
    expect(finishedStatus({ succeeded: 0, failed: 1 })).toBe('failed');
    expect(finishedStatus({ succeeded: 0, failed: 0 })).toBe('succeeded');
  });
});

describe('an inner message', () => {
  it('is read back as it was printed', () => {
    const elect = { kind: 'elect' as const, target: target('ship/depot=MUC~2') };
    const group = { target: elect.target, fence: 4, token: token('t') };
    expect(parseElect(printElect(elect))).toEqual(elect);
    expect(parseGroup(printGroup(group))).toEqual(group);
    expect(parseGroup(printGroup({ ...group, hint: true }))).toEqual({ ...group, hint: true });
    expect(parseBatch(printBatch({ kind: 'due', batchId: batchId('b#1#1') }))).toEqual({
      kind: 'due',
      batchId: 'b#1#1',
    });
    const held = { kind: 'due' as const, batchId: batchId('b#1#1'), held: { by: token('look'), span: 7 } };
    expect(parseBatch(printBatch(held))).toEqual(held);
    for (const other of [7, {}, { by: 'look' }, { by: 'look', span: '7' }, { by: 7, span: 7 }])
      expect(parseBatch(JSON.stringify({ b: 'b#1#1', held: other }))).toEqual({ kind: 'due', batchId: 'b#1#1' });
  });

  it('is refused if it is unreadable', () => {
    for (const junk of ['', '{', 'null', '[]', '{}', '{"target":""}', '{"target":"//"}', '{"target":7}', '{"b":""}']) {
      expect(() => parseElect(junk)).toThrow(UnreadableMessage);
      expect(() => parseGroup(junk)).toThrow(UnreadableMessage);
      expect(() => parseBatch(junk)).toThrow(UnreadableMessage);
    }
    expect(() => parseGroup('{"target":"ship","f":1.5,"token":"t"}')).toThrow(UnreadableMessage);
  });

  it('of a later release differs from an unreadable one', () => {
    const later = { v: 2, to: 'ops', event: {}, target: 'ship', operation: 'ship', b: 'b#1#1', f: 1, token: 't' };
    for (const parse of [parseElect, parseGroup, parseBatch, parseCallback])
      expect(() => parse(JSON.stringify(later)), parse.name).toThrow(NewerMessage);
    // Results that a job reports have no version of ours.
    expect(parseBatch('{"v":2,"batchId":"b#1#1"}')).toEqual({ kind: 'completion', batchId: 'b#1#1', results: null });
    for (const v of [1, 0, '2', 2.5, null, [2]])
      expect(parseElect(JSON.stringify({ v, target: 'ship' }))).toEqual({ kind: 'elect', target: 'ship' });
  });

  it('is refused if a row could not hold its names, or only at a high cost', () => {
    const groupWith = (fields: object) => () =>
      parseGroup(JSON.stringify({ target: 'ship', f: 1, token: 't', ...fields }));
    expect(groupWith({})).not.toThrow();
    for (const token of ['', 7, null, 'x'.repeat(65), '\ud800'])
      expect(groupWith({ token })).toThrow(UnreadableMessage);
    for (const f of [2 ** 53, -(2 ** 53), null, '1']) expect(groupWith({ f })).toThrow(UnreadableMessage);
    for (const odd of ['ship/\ud800', `ship/${'x'.repeat(512)}`, 'ship\n', '__proto__', '~patrol', ' ship'])
      expect(() => parseElect(JSON.stringify({ target: odd })), odd).toThrow(UnreadableMessage);
    for (const b of ['x'.repeat(2_049), 'ü'.repeat(1_025), '\ud800', 7, ['b']])
      expect(() => parseBatch(JSON.stringify({ b }))).toThrow(UnreadableMessage);
    expect(() => parseElect('{"__proto__":{"target":"ship"}}')).toThrow(UnreadableMessage);
  });
});

describe('a resent register body', () => {
  it('has the id of its first message, so that it stays one task', () => {
    expect(withId(' { "operation":"ship","payload":{"n":12345678901234567890}}', 'm-1')).toBe(
      '{"id":"m-1", "operation":"ship","payload":{"n":12345678901234567890}}',
    );
    expect(withId('{}', 'm-1')).toBe('{"id":"m-1"}');
  });

  it('is not changed if it has an id or cannot be read', () => {
    for (const body of ['{"id":"a","payload":{}}', '{', '[]', 'null']) expect(withId(body, 'm-1')).toBe(body);
  });

  it('gets no id if it is a redrive without one, which is refused', () => {
    expect(withId('{"run":1}', 'm-1')).toBe('{"run":1}');
    expect(parseRedrive(JSON.parse(withId('{"run":1}', 'm-1')))).toMatchObject({
      ok: false,
      problems: [{ path: 'id' }],
    });
    const odd = '"run":1,"operation":"ship","payload":{}}';
    expect(withId(`{${odd}`, 'm-1')).toBe(`{"id":"m-1",${odd}`);
  });
});

describe('the patrol', () => {
  const operations = [operationName('a'), operationName('b')];
  const mark = { operation: operationName('a'), seen: 30, lastRound: 70 };

  it('scans the pages of an operation, then the next one, then begins a new round', () => {
    expect(advance(mark, 'page-2', operations)).toEqual({ mark: { ...mark, cursor: 'page-2' }, roundEnded: false });
    expect(advance({ ...mark, cursor: 'page-9' }, undefined, operations).mark).toEqual({
      operation: 'b',
      seen: 30,
      lastRound: 70,
    });
    expect(advance({ ...mark, operation: operationName('b') }, undefined, operations)).toEqual({
      mark: { operation: 'a', seen: 0, lastRound: 30 },
      roundEnded: true,
    });
  });
});
