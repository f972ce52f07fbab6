/** The writes that one message causes. One message must not cause a thousand writes. */
import { describe, expect, it } from 'vitest';
import { printRejection } from '../../src/domain/register/rejection.ts';
import { PAYLOAD_MAX_BYTES } from '../../src/domain/tasks/task.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { register } from '../../src/steps/register/register.ts';
import type { Gate } from '../../src/virtual/gate.ts';
import { target, token } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { PLENTY, stepKit } from '../steps/step-kit.ts';

const READS = new Set([
  'locks.read',
  'locks.readAll',
  'locks.readEventually',
  'waiting.first',
  'waiting.count',
  'tasks.get',
  'batches.get',
  'operations.read',
  'operations.waiting',
]);

/** A kit that counts written rows by the port's method. */
const counting = () => {
  const written: Record<string, number> = {};
  const gate: Gate = async (call, effects) => {
    if (!READS.has(call) && effects.length > 0) written[call] = (written[call] ?? 0) + effects.length;
    return effects.map((effect) => effect());
  };
  const kit = stepKit(memoryStores(undefined, gate));
  const sent = () => Object.fromEntries(Object.entries(kit.sent).map(([queue, messages]) => [queue, messages.length]));
  return { kit, written, sent };
};

const message = (fields: object, payload: object = {}) => ({
  messageId: 'message-1',
  body: JSON.stringify({ operation: 'ship', payload: { depot: 'MUC', ...payload }, ...fields }),
});
const NOTHING = {
  registered: 0,
  senders: 0,
  elect: 0,
  resume: 0,
  group: 0,
  batch: 0,
  rejected: 0,
  callbacks: 0,
  givenUp: 0,
  grant: 0,
  revived: 0,
};

describe('one register message', () => {
  it('writes a bounded number of rows, and one message', async () => {
    const small = counting();
    await register(small.kit, [message({})]);
    expect([small.written, small.sent()]).toEqual([
      { 'tasks.insert': 1, 'waiting.put': 1, 'locks.enlist': 1 },
      { ...NOTHING, elect: 1 },
    ]);
    const large = counting();
    const lists = { list: Array.from({ length: 20_000 }, (_, n) => n), text: 'x'.repeat(PAYLOAD_MAX_BYTES - 120_000) };
    await register(large.kit, [message({}, lists)]);
    expect([large.written, large.sent()]).toEqual([
      { 'tasks.insert': 1, 'tasks.storePayloads': 1, 'waiting.put': 1, 'locks.enlist': 1 },
      { ...NOTHING, elect: 1 },
    ]);
  });

  it('that is refused writes one message with at most twenty reasons', async () => {
    const { kit, written, sent } = counting();
    const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`field-${n}`, n]));
    await register(kit, [message(fields)]);
    expect([written, sent()]).toEqual([{}, { ...NOTHING, rejected: 1 }]);
    const [rejection] = kit.sent.rejected;
    if (rejection) expect(JSON.parse(printRejection(rejection)).errors).toHaveLength(20);
    const [event] = kit.events;
    expect(event).toMatchObject({ event: 'rejected', reasons: { length: 10 } });
    expect(JSON.stringify(event).length).toBeLessThan(2_000);
  });

  it('makes one task, even if it arrives a thousand times', async () => {
    const { kit, written, sent } = counting();
    const same = Array.from({ length: 1_000 }, () => message({ id: 'same' }));
    await register(kit, same);
    expect([written, sent()]).toEqual([
      { 'tasks.insert': 1, 'waiting.put': 1, 'locks.enlist': 1 },
      { ...NOTHING, elect: 1 },
    ]);
  });
});

describe('one message on an inner queue', () => {
  it('for an unknown Target writes at most one row', async () => {
    const { kit, written, sent } = counting();
    await electLeader(kit, { kind: 'elect', target: target('ship/depot=nowhere') });
    expect([written, sent()]).toEqual([{}, NOTHING]);
    await group(kit, { target: target('ship/depot=nowhere'), fence: 7, token: token('t') }, PLENTY);
    expect([written, sent()]).toEqual([{ 'locks.skipFence': 1 }, NOTHING]);
  });
});
