/** Messages whose fields have extreme values, valid or not: each becomes a task or is rejected at once. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { registerAll } from '../../src/steps/register/register.ts';
import { NOW } from '../factories/factories.ts';
import { depot, kit, suite } from './step-suite.ts';

const FOR_EACH_STORE = 20;

const number = fc.oneof(
  fc.constantFrom('1e-200', '5e-324', '1e-131', '1e-130', '9.999e-131', '1E9', '1e126', '1e400', '-0', '0', '1e-1000'),
  fc.constantFrom(
    '0.1234567890123456789012345678901234567890123456789',
    `1${'0'.repeat(200)}`,
    `0.${'0'.repeat(140)}1`,
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const text = fc.oneof(
  fc.constantFrom('""', '"\\u0000"', '"\\ud83d"', '" "', '"__proto__"', '"#"', '"\\uffff"'),
  fc
    .tuple(fc.constantFrom('a', 'ü', '\u{1f600}', '%'), fc.constantFrom(1, 64, 127, 128, 129, 700, 2_100, 70_000))
    .map(([one, times]) => JSON.stringify(one.repeat(times))),
);
const payload = fc.oneof(
  { weight: 3, arbitrary: fc.constant('DEPOT') },
  { weight: 1, arbitrary: text },
  { weight: 1, arbitrary: number },
);
const fields = fc.record(
  {
    weight: number,
    priority: number,
    correlationId: text,
    coalesceKey: text,
    expiresIn: fc.oneof(text, fc.constantFrom('"1s"', '"30d"', '"1e9s"')),
    id: text,
  },
  { requiredKeys: [] },
);

suite('a register message with extreme values', () => {
  it('becomes a task or is rejected, and never comes back', async () => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fields, payload), { minLength: 1, maxLength: 12 }), async (all) => {
        made += 1;
        const name = `${depot}-${made}`;
        const messages = all.map(([wished, value], n) => {
          const body = Object.entries(wished).map(([field, each]) => `"${field}":${each}`);
          const depotText = value === 'DEPOT' ? JSON.stringify(depot) : value;
          return {
            messageId: `${name}-${n}`,
            sentAt: NOW,
            body: `{${[...body, '"operation":"ship"', `"payload":{"depot":${depotText},"n":"${name}-${n}"}`].join(',')}}`,
          };
        });
        kit.sent.rejected.length = 0;
        const causes: unknown[] = [];
        const failed = await registerAll(kit, messages, (_, cause) => causes.push(cause));
        expect([causes, failed]).toEqual([[], []]);
        const refused = new Set(kit.sent.rejected.map(({ messageId }) => messageId));
        const others = messages.filter(({ messageId }) => !refused.has(messageId));
        const ids = others.map(({ messageId, body }) => (JSON.parse(body) as { id?: string }).id ?? messageId);
        const stored = await kit.tasks.outlines(ids as never[]);
        expect(stored.map((task) => task?.status)).toEqual(ids.map(() => 'created'));
        expect(kit.sent.rejected.every(({ problems }) => problems.length > 0)).toBe(true);
      }),
      { numRuns: FOR_EACH_STORE },
    );
  });
});
