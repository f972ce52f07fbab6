import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { causeOf } from '../../src/api/tasks/cause.ts';

describe('the cause of a failure leaves out', () => {
  it.each([
    [
      'numbers',
      'gave up after 5 attempts: no answer within 10000 ms',
      'gave up after … attempts: no answer within … ms',
    ],
    ['numbers amid words', 'parcel P-1234 at 10:30 of 3.5 kg', 'parcel P-… at … of … kg'],
    ['UUIDs', 'no order 3f2504e0-4f89-41d3-9a0c-0305e82c3301', 'no order …'],
    ['ULIDs', 'no order 01JD2Y0FQZ4XB8R5MTWV7KQ2N1 here', 'no order … here'],
    ['hashes', 'trace 9f86d081884c7d65 at host', 'trace … at host'],
    ['times', 'closed since 2026-01-01T08:15:30.123Z', 'closed since …'],
    ['ids of batches', 'batch ship/depot=MUC#12#3 has it', 'batch … has it'],
    ['quoted texts', `there is no depot "MUC" and no 'Munich' or \`M\``, `there is no depot "…" and no '…' or \`…\``],
    ['the length of a list', 'unknown: "A", "B", "C"; rows 1, 2, 3', 'unknown: "…"; rows …'],
    ['the values of JSON fields', '{"parcel":"Anna","weight":12}', '{"parcel":"…","weight":…}'],
  ])('%s', (_, message, cause) => expect(causeOf(message)).toBe(cause));

  it('names of the task and its Target, unless they are words', () => {
    expect(causeOf('task summer-parcel of ship/depot=MUC is late', ['summer-parcel', 'ship/depot=MUC'])).toBe(
      'task … of … is late',
    );
    expect(causeOf('a task is late', ['a', 'is'])).toBe('a task is late');
  });
});

describe('the cause of a failure keeps', () => {
  it.each([
    ['the status code', 'refused: answered 503: try later'],
    ['the error in JSON', 'answered 422: {"error":"depot closed","code":"CLOSED"}'],
    ['the names of fields', 'answered 400: {"depot":{"open":false}}'],
    ['apostrophes', "it can't be read, and doesn't say why"],
    ['a quote that was cut off', 'answered 500: {"error":"there is no such'],
    ['an empty message', ''],
  ])('%s', (_, message) => expect(causeOf(message)).toBe(message));

  it('the text of an error, without its numbers and ids', () => {
    expect(causeOf('answered 422: {"message": "no depot 17", "id": "abc"}')).toBe(
      'answered 422: {"message":"no depot …", "id": "…"}',
    );
  });
});

it('messages that differ in a number, an id or a quoted name have the same cause', () => {
  const word = fc.stringMatching(/^[a-z]{1,12}$/);
  const message = (n: number, name: string, id: string) => `no depot "${name}" for parcel ${n} (order ${id})`;
  fc.assert(
    fc.property(fc.nat(), fc.nat(), word, word, fc.uuid(), fc.uuid(), (n, m, one, other, id, another) => {
      expect(causeOf(message(n, one, id))).toBe(causeOf(message(m, other, another)));
    }),
  );
});
