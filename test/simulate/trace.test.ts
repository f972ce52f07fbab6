import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Arrival, arrivalsIn, fieldsOf, goesOn, momentOf } from '../../tools/simulate/trace.ts';
import { configFrom, operationAt } from '../end-to-end/operations.ts';

const ship = operationAt('http://127.0.0.1:1/batch');
const ONE = configFrom({ operations: { ship } });
const TWO = configFrom({ operations: { ship, other: ship } });

async function* pieces(text: string, size = 7): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const read = async (text: string, config = ONE): Promise<Arrival[]> => {
  const arrivals: Arrival[] = [];
  for await (const arrival of arrivalsIn('t', pieces(text), config)) arrivals.push(arrival);
  return arrivals;
};

describe('a trace', () => {
  it('can be JSON lines, with payloads as written and times from the first one', async () => {
    const text = [
      '\ufeff{"time": 5.5, "payload": {"n": 12345678901234567890}, "id": "any"}',
      '',
      '{"time": 7, "operation": "ship", "payload": {"text": "a\u2028b"}}\r',
    ].join('\n');
    expect(await read(text)).toEqual([
      { at: 0, operation: 'ship', payload: '{"n": 12345678901234567890}' },
      { at: 1_500, operation: 'ship', payload: '{"text": "a\u2028b"}' },
    ]);
  });

  it('can be CSV with quoted fields, in any order of columns', async () => {
    const text =
      'operation,more,payload,time\r\nother,,"{""depot"": ""A,B"",\n ""n"": 1}",2026-03-01T08:00:00Z\r\nship,x,{},2026-03-01 09:00:00.250+01:00\r\n';
    expect(await read(text, TWO)).toEqual([
      { at: 0, operation: 'other', payload: '{"depot": "A,B",\n "n": 1}' },
      { at: 250, operation: 'ship', payload: '{}' },
    ]);
  });

  it.each([
    ['{"time": "noon", "payload": {}}', 't:1: time must be a time'],
    ['{"time": 1, "payload": {}}\n\n{"time": 2, "payload": []}', 't:3: payload must be a JSON object'],
    [
      '{"time": 1, "payload": {}}\n{"time": 0.5, "payload": {}}',
      't:2: time is 500 ms before that of the previous task',
    ],
    ['{"time": 1, "payload": {}}\n{"time": 2}', 't:2: payload is missing'],
    ['{"time": 1, "payload": {}}\n{"time": 2,', 't:2: is not JSON'],
    ['{"time": 1, "payload": {}, "operation": "none"}', 't:1: operation is not in the configuration; configured: ship'],
    ['{"time": 1, "payload": {}, "priority": 9}', 't:1: priority cannot be simulated'],
    ['{"time": 1, "payload": {}, "weight": "7"}', 't:1: weight must be a number from 1e-130'],
    ['time,payload,weight\n1,{},\n2,{},heavy', 't:3: weight must be a number from 1e-130'],
    ['when,payload\n1,{}', 't:1: has no column "time"'],
    ['time,payload,time\n1,{},2', 't:1: has the column "time" twice'],
    ['time,payload\n1,{},2', 't:2: has 3 fields, but the header has 2'],
    ['time,payload\n1,{}\n2,{"n":1}', 't:3: has a quote inside an unquoted field'],
    ['time,payload\n1,"{}"x', 't:2: has a quote inside an unquoted field'],
    ['time,payload\n1,{}\n2,"{}\n3,{}', 't:3: has an opening quote that is not closed'],
    ['time,payload\n1,{', 't:2: payload is not JSON'],
  ])('is refused: %j', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it('may have the weight of a task', async () => {
    const json = '{"time": 1, "payload": {}, "weight": 0.5}\n{"time": 1, "payload": {}}';
    for (const text of [json, 'time,payload,weight\n1,{},0.5\n1,{},'])
      expect((await read(text)).map(({ weight }) => weight)).toEqual([0.5, undefined]);
  });

  it('names the operation of each task if several are configured', async () => {
    await expect(read('{"time": 1, "payload": {}}', TWO)).rejects.toThrow('t:1: operation is missing; configured:');
  });

  it('is refused if it is not UTF-8', async () => {
    const bytes = async function* () {
      yield Buffer.from([0x7b, 0xff, 0x7d]);
    };
    await expect(arrivalsIn('t', bytes(), ONE).next()).rejects.toThrow('t:1: is not UTF-8');
  });
});

describe('the time of a task', () => {
  it('is a date, seconds, or milliseconds since 1970 if too large for seconds', () => {
    expect(momentOf('2026-03-01T08:00:00.250Z')).toBe(Date.UTC(2026, 2, 1, 8, 0, 0, 250));
    expect(momentOf('2026-03-01T08:00')).toBe(Date.UTC(2026, 2, 1, 8));
    expect(momentOf('2026-03-01 08:00:00+0130')).toBe(Date.UTC(2026, 2, 1, 6, 30));
    expect(momentOf(1_772_352_000)).toBe(1_772_352_000_000);
    expect(momentOf('1772352000000')).toBe(1_772_352_000_000);
    expect(momentOf(0.3)).toBe(300);
    for (const none of ['', 'noon', '2026-13-01T00:00:00Z', -1, Number.NaN, null, {}])
      expect(momentOf(none)).toBeUndefined();
  });
});

describe('a CSV record', () => {
  const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`;
  const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é') });

  it('has the written fields, quoted if necessary', () => {
    fc.assert(
      fc.property(fc.array(field, { minLength: 1 }), fc.boolean(), (fields, all) => {
        const record = fields.map((each) => (all || /[",\n]/.test(each) ? quoted(each) : each)).join(',');
        expect(fieldsOf(record)).toEqual(fields);
        expect(goesOn(record)).toBe(false);
      }),
    );
  });

  it('continues after a line end within quotes', () => {
    fc.assert(
      fc.property(fc.array(field, { minLength: 1, maxLength: 5 }), (fields) => {
        const lines = fields.map(quoted).join(',').split('\n');
        for (let end = 1; end < lines.length; end += 1) expect(goesOn(lines.slice(0, end).join('\n'))).toBe(true);
      }),
    );
  });
});
