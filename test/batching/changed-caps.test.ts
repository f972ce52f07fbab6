/** `perTarget` changes while batches of a Target are under way: each task ends, and no more are under way than a cap allows. */
import { expect, it } from 'vitest';
import { isFinished } from '../../src/batching/batch.ts';
import { electLeader } from '../../src/batching/elect-leader.ts';
import { group } from '../../src/batching/group.ts';
import { handleBatch } from '../../src/batching/handle-batch.ts';
import { type BatchId, batchIdOf } from '../../src/batching/ids.ts';
import type { BatchMessage } from '../../src/batching/messages.ts';
import { SECOND } from '../../src/batching/timings.ts';
import { aConfig, aPolicy } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { kit, registered, suite, where } from './step-suite.ts';

suite('a Target whose cap changes', () => {
  const capped = (perTarget: number | null): StepKit => ({
    ...kit,
    config: aConfig({ batch: aPolicy({ maxSize: 1, maxWait: 0 }), concurrency: { perTarget, total: null } }),
  });
  const ours = <Message extends { readonly target: unknown }>(sent: Message[]): Message[] =>
    sent.splice(0).filter(({ target }) => target === where);
  /** Delivers what leads the Target until nothing more is sent. */
  const lead = async (deps: StepKit): Promise<void> => {
    for (let round = 0; round < 50; round += 1) {
      const [elects, guards] = [ours(kit.sent.elect), ours(kit.sent.group)];
      if (elects.length + guards.length === 0) return;
      for (const message of elects) await electLeader(deps, message);
      for (const { delay, ...message } of guards) {
        kit.now += delay * SECOND;
        await group(deps, message, PLENTY);
      }
    }
    throw new Error('its leaders do not come to an end');
  };
  const underWay = async (): Promise<number> => {
    const { round } = await kit.locks.read(where);
    const ids = Array.from({ length: round }, (_, n) => n + 1);
    const fences = Array.from({ length: (await kit.locks.read(where)).fence }, (_, n) => n + 1);
    const all = await Promise.all(
      ids.flatMap((each) => fences.map((fence) => kit.batches.get(batchIdOf(where, fence, each)))),
    );
    return all.filter((batch) => batch && !isFinished(batch.status)).length;
  };
  const isOurs = (message: BatchMessage): boolean => message.batchId.startsWith(`${where}#`);

  it.each([
    [1, 3],
    [1, null],
    [2, 5],
    [5, 12],
    [12, 20],
    [12, 5],
    [12, null],
  ])('from %s to %s leaves no task behind', async (before, after) => {
    const ids = await registered(30);
    await lead(capped(before));
    expect(await underWay()).toBe(before);
    const deps = capped(after);
    for (let round = 0; round < 60; round += 1) {
      const messages = kit.sent.batch.splice(0).filter(isOurs);
      if (messages.length === 0) break;
      for (const { delay: _, ...message } of messages) await handleBatch(deps, message as BatchMessage, PLENTY);
      await lead(deps);
    }
    const ended = (await kit.tasks.all(ids)).map(({ state }) => state.status);
    expect(ended).toEqual(ids.map(() => 'succeeded'));
    expect((await kit.locks.read(where)).inFlight).toBeUndefined();
  });

  it.each([
    [12, 10],
    [12, 1],
    [25, 12],
  ])('from %s to %s has no further batches before fewer are under way', async (before, after) => {
    await registered(40);
    await lead(capped(before));
    const deps = capped(after);
    const messages = kit.sent.batch.splice(0).filter(isOurs);
    expect(messages).toHaveLength(before);
    for (const [n, { batchId }] of messages.entries()) {
      await handleBatch(deps, { batchId: batchId as BatchId }, PLENTY);
      await lead(deps);
      expect(await underWay()).toBe(Math.max(after, before - n - 1));
    }
  });
});
