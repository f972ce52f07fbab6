import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { writeLocalTemplates } from '../../scripts/build/local-templates.ts';
import { type ConfigInput, parseConfig } from '../../src/domain/config/schema/config.ts';
import { synthesise } from '../../tools/local/assembly.ts';
import { preparedAssembly } from '../../tools/local/prepared.ts';
import { CloudAssembly, type Found, resourcesUsed } from '../../tools/local/template.ts';

let folder: string;
beforeAll(() => {
  folder = temporaryFolder('templates');
  writeLocalTemplates(folder);
});

const http = { kind: 'http', url: 'https://parcels.example/batch' };
const downstream = fc.oneof(
  fc.record({ timeout: fc.constantFrom('100ms', '10s', '4m') }).map((more) => ({ ...http, ...more })),
  fc.constantFrom(
    { kind: 'lambda', function: 'f', timeout: '12m' },
    { kind: 'step-functions', stateMachine: 'm' },
    { kind: 'queue', name: 'q' },
  ),
);
const operation = fc.record({ downstream, immediate: fc.nat(2), isMerged: fc.boolean() }).map((made) => ({
  target: ['depot'],
  downstream: made.downstream,
  retry: { immediate: made.immediate },
  ...(made.isMerged ? { merge: { keys: 'inputs[].id' } } : {}),
}));
const destination = fc.constantFrom(
  { kind: 'queue', name: 'q' },
  { kind: 'topic', name: 't' },
  { kind: 'event-bus', name: 'b' },
  { ...http, secret: { ssm: '/key' }, timeout: '25s' },
);
const input = fc.record({
  operations: fc.dictionary(fc.constantFrom('ship', 'label', 'weigh'), operation, { minKeys: 1 }),
  destinations: fc.dictionary(fc.constantFrom('ops', 'shop'), destination),
  register: fc.record({ maxMessages: fc.integer({ min: 1, max: 100 }), maxWait: fc.constantFrom('0s', '1s', '5s') }),
  alarms: fc.constantFrom(null, {}),
});

/** What the local stack reads of a resource, in the form in which it reads it. */
const readOf = ({ name, properties }: Found): Found => {
  // The code differs on purpose, and the local stack does not read the memory, the role and the like.
  const { Code: _, ...rest } = properties;
  return { name, properties: { MaximumBatchingWindowInSeconds: 0, ...rest } };
};

const environmentOf = ({ properties }: Found): object =>
  ((properties.Environment ?? {}) as { Variables?: object }).Variables ?? {};

it('the templates of the package equal what the CDK synthesizes', { timeout: 120_000 }, () => {
  const seen = { right: 0 };
  fc.assert(
    fc.property(input, (given) => {
      const config = parseConfig(given as ConfigInput);
      if (!config.ok) return;
      seen.right += 1;
      const place = { sqs: 'http://127.0.0.1:4502' };
      const prepared = new CloudAssembly(preparedAssembly(config.value, folder), place);
      const synthesised = new CloudAssembly(synthesise(config.value), place);
      for (const type of resourcesUsed) {
        // Nothing sends the events of rules with a pattern on this machine.
        const all = (of: CloudAssembly) => of.all(type).filter(({ properties }) => !properties.EventPattern);
        expect(all(prepared).map(({ name }) => name)).toEqual(all(synthesised).map(({ name }) => name));
        for (const [index, found] of all(synthesised).entries()) {
          const same = all(prepared)[index] as Found;
          // A function may have settings that this configuration does not need.
          expect(environmentOf(same)).toMatchObject(environmentOf(found));
          const { Environment: _, ...expected } = readOf(found).properties;
          const { Environment: _also, ...actual } = readOf(same).properties;
          expect(actual).toEqual(expected);
        }
      }
    }),
    { numRuns: 25 },
  );
  expect(seen.right).toBeGreaterThan(5);
});
