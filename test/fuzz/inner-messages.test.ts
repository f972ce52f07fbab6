import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  parseBatch,
  parseElect,
  parseGroup,
  printBatch,
  printElect,
  printGroup,
} from '../../src/domain/batches/messages.ts';
import { isTarget } from '../../src/domain/ids.ts';
import { NewerMessage, UnreadableMessage } from '../../src/domain/messages.ts';
import { fuzz } from './fuzz.ts';
import { asSent, nearly, stringText, valueText } from './json-texts.ts';

const mostly = (right: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: stringText }, { weight: 1, arbitrary: valueText });
const long = fc.constantFrom(1, 20, 64, 65, 500, 600, 3_000).map((length) => 'x'.repeat(length));
const target = mostly(
  fc
    .constantFrom(
      'ship',
      'ship/depot=MUC',
      'ship/depot=MUC~7',
      'ship/\u00fc',
      `ship/${'x'.repeat(511)}`,
      `ship/${'x'.repeat(512)}`,
      '~patrol',
      '',
    )
    .map((text) => JSON.stringify(text)),
);
const fence = mostly(fc.oneof(fc.integer(), fc.maxSafeInteger()).map(String));
const token = mostly(
  fc.oneof(fc.constantFrom('01ARZ3NDEKTSV4RRFFQ69G5FAV', 't'), long).map((text) => JSON.stringify(text)),
);
const batch = mostly(fc.oneof(fc.constantFrom('ship/depot=MUC#1#1', ''), long).map((text) => JSON.stringify(text)));

/** Reads a body; undefined if Groupage does not send such a body. Any other error is a crash. */
const read = <Message>(parse: (body: string) => Message, body: string): Message | undefined => {
  try {
    return parse(body);
  } catch (cause) {
    // A random member "v" may look like a newer version.
    if (cause instanceof NewerMessage) return undefined;
    if (!(cause instanceof UnreadableMessage)) throw cause;
    expect(cause.message).toMatch(
      /^not a message that Groupage sends \(\{[a-zI, ]+\}(?: or \{[a-zI, ]+\})? expected\)/,
    );
    return undefined;
  }
};

const PARSERS = {
  elect: { body: nearly({ target }), parse: parseElect, print: printElect },
  group: {
    body: nearly({ target, f: fence, token, hint: mostly(fc.constantFrom('true', 'false')) }),
    parse: parseGroup,
    print: printGroup,
  },
  batch: {
    body: fc.oneof(
      nearly({ b: batch, at: mostly(fc.nat().map(String)) }),
      nearly({ batchId: batch, results: mostly(fc.constantFrom('[]', '[{"id":"a","status":"retry"}]')) }),
    ),
    parse: parseBatch,
    print: printBatch,
  },
} as const;

it.each(['elect', 'group', 'batch'] as const)(
  'a message of the %s queue is read as one that Groupage sends, or not at all',
  (queue) => {
    const { body, parse, print } = PARSERS[queue] as {
      body: fc.Arbitrary<string>;
      parse: (body: string) => object;
      print: (message: never) => string;
    };
    return fuzz(asSent(body), ['read', 'unreadable'], (text) => {
      const message = read(parse, text);
      if (message === undefined) return 'unreadable';
      // A message that was read can be printed, has the same meaning, and fits into a row.
      expect(print(parse(print(message as never)) as never)).toBe(print(message as never));
      for (const [name, value] of Object.entries(message)) {
        // A job's report is JSON as sent, of any length: its reader takes from it only what fits into a row.
        if (typeof value === 'string' && (name === 'results' || name === 'inputs')) continue;
        if (typeof value === 'string')
          expect([value.isWellFormed(), value !== '', Buffer.byteLength(value) <= 2_048]).toEqual([true, true, true]);
        else expect(value === null || value === true || Number.isSafeInteger(value)).toBe(true);
      }
      if ('target' in message)
        expect([isTarget(message.target), Buffer.byteLength(String(message.target)) <= 516]).toEqual([true, true]);
      if ('token' in message) expect(String(message.token).length).toBeLessThanOrEqual(64);
      return 'read';
    });
  },
);
