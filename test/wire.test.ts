import { describe, expect, it } from 'vitest';
import { revivalsOf } from '../src/aws/sqs-queues.ts';
import { printCall } from '../src/domain/downstream/downstream.ts';
import { parseRejection, printRejection } from '../src/domain/register/rejection.ts';
import { itemBytes } from '../src/domain/tasks/task.ts';
import { batchId, id, NOW, operationName, target } from './factories/factories.ts';

describe('the body of a call', () => {
  const call = {
    batchId: batchId('ship/depot=MUC#1#1'),
    operation: operationName('ship'),
    target: target('ship/depot=MUC'),
    attempt: 2,
  };

  it("is the contract's envelope around the payloads as they were sent", () => {
    const items = [
      { id: id('a'), payload: '{ "n": 12345678901234567890 }' },
      { id: id('b"'), payload: '{}' },
    ];
    const body = printCall({ ...call, items });
    expect(body).toBe(
      '{"batchId":"ship/depot=MUC#1#1","operation":"ship","target":"ship/depot=MUC","attempt":2,"items":[{"id":"a","payload":{ "n": 12345678901234567890 }},{"id":"b\\"","payload":{}}]}',
    );
    const empty = printCall({ ...call, items: [] });
    const added = items.reduce((sum, item) => sum + itemBytes(item.id, item.payload), 0);
    // The counted bytes of a batch are those that its items add, except for the last comma.
    expect(Buffer.byteLength(body) - Buffer.byteLength(empty)).toBe(added - 1);
  });
});

describe('the count of revivals on a message', () => {
  it('is a number, whatever the attribute contains', () => {
    expect(['0', '3', '20'].map(revivalsOf)).toEqual([0, 3, 20]);
    for (const odd of [undefined, '', 'NaN', '-1', '0.5', '1e300', 'Infinity', ' 3', '9'.repeat(400)])
      expect(revivalsOf(odd), odd).toBe(0);
  });
});

describe('a rejection', () => {
  const problems = [{ path: 'payload', reason: 'is too large' }];
  const printed = (body: string) => printRejection({ messageId: 'm-1', body, problems, at: NOW });

  it('keeps the message as it came', () => {
    expect(JSON.parse(printed('{"a":"ü"}'))).toEqual({
      messageId: 'm-1',
      rejectedAt: '2026-01-01T00:00:00.000Z',
      errors: problems,
      body: '{"a":"ü"}',
    });
  });

  it('names the first twenty reasons', () => {
    const many = Array.from({ length: 15_000 }, (_, n) => ({
      path: `field-${n}`,
      reason: 'is not a field of a register message',
    }));
    const text = printRejection({ messageId: 'm-1', body: '{}', problems: many, at: NOW });
    expect(JSON.parse(text)).toMatchObject({ errorsInAll: 15_000, errors: many.slice(0, 20) });
  });

  it('is read back, and distinguished from other texts', () => {
    expect(parseRejection(printed('{"a":1}'))).toEqual({
      messageId: 'm-1',
      body: '{"a":1}',
      problems,
      isCut: false,
      bodyBytes: 7,
      problemsInAll: 1,
      isEvent: false,
    });
    const odd = JSON.stringify({ messageId: 'm', body: '', errors: [1, null, { path: 1, reason: 'x' }, ...problems] });
    expect(parseRejection(odd)).toMatchObject({ problems });
    expect(parseRejection('{"messageId":"m","body":"","errors":"none"}')).toMatchObject({ problems: [] });
    expect(parseRejection(printed('x'.repeat(1_048_576)))).toMatchObject({ isCut: true });
    for (const junk of ['', '{', '[]', '{}', '{"messageId":"m"}', '{"messageId":1,"body":""}', '{"body":"{}"}'])
      expect(parseRejection(junk), junk).toBeUndefined();
  });

  it('fits into a message, whatever it contains', () => {
    for (const body of ['x'.repeat(1_048_576), '\u0001'.repeat(1_048_576), 'ü'.repeat(524_288), '"'.repeat(700_000)]) {
      const text = printed(body);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_048_576);
      expect(JSON.parse(text)).toMatchObject({ errors: problems, bodyIsCut: true, bodyBytes: Buffer.byteLength(body) });
    }
  });
});
