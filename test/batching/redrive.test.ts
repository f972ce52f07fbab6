import { describe, expect, it } from 'vitest';
import type { TaskId } from '../../src/batching/ids.ts';
import { parseRedrive, printRedrive } from '../../src/batching/redrive.ts';
import { register } from '../../src/batching/register.ts';
import { batchId, candidate, id, NOW } from '../factories/factories.ts';
import { depot, kit, message, registered, suite, where } from './step-suite.ts';

/** A task that failed in its run. */
const failedTask = async (run = 1): Promise<TaskId> => {
  const [task] = (await registered(1)) as [TaskId];
  const batch = batchId(`${where}#${run}#1`);
  await kit.tasks.claim([candidate(task, run)], batch);
  await kit.waiting.remove(
    where,
    (await kit.waiting.first(where, 9)).map(({ entry }) => entry),
  );
  const error = { code: 'bad', message: 'no such depot', retriable: false };
  await kit.tasks.finish([{ id: task, outcome: { status: 'failed', error } }], {
    id: batch,
    target: where,
    attempts: 1,
    at: NOW,
    keep: 3_600_000,
  });
  kit.sent.elect.length = 0;
  return task;
};

const asking = (task: string, run = 1) => ({
  messageId: `${depot}-redrive`,
  body: printRedrive({ id: id(task), run }),
});

const candidates = async () => (await kit.waiting.first(where, 9)).map((row) => row.candidate);

suite('a redrive', () => {
  it('lets a failed task wait again, from now on, and asks for a leader', async () => {
    const task = await failedTask();
    kit.now = NOW + 60_000;
    await register(kit, [asking(task)]);
    expect(await kit.waiting.first(where, 9)).toMatchObject([{ candidate: candidate(task, 2), at: NOW + 60_000 }]);
    expect(kit.sent.elect).toEqual([{ target: where }]);
    expect(kit.events).toContainEqual({ event: 'redriven', tasks: 1 });
  });

  it('twice, late or with the task beside it is one', async () => {
    const task = await failedTask();
    await register(kit, [asking(task), asking(task), message(0)]);
    await register(kit, [asking(task)]);
    expect(await candidates()).toEqual([candidate(task, 2)]);
    expect((await kit.tasks.get(task))?.run).toBe(2);
    expect(kit.sent.rejected).toEqual([]);
  });

  it('that stopped before the task waits is completed when its message comes back', async () => {
    const task = await failedTask();
    await kit.tasks.redrive([{ id: task, run: 1 }], NOW);
    await register(kit, [asking(task)]);
    expect(await candidates()).toEqual([candidate(task, 2)]);
  });

  it('of a task that waits or is under way changes nothing', async () => {
    const [task] = (await registered(1)) as [TaskId];
    await register(kit, [asking(task)]);
    expect(await candidates()).toEqual([candidate(task)]);
    await kit.tasks.claim([candidate(task)], batchId('b#1#1'));
    await register(kit, [asking(task)]);
    expect((await kit.tasks.get(task))?.state.status).toBe('batched');
    expect(kit.sent.rejected).toEqual([]);
  });

  it('of a task that is not there, of a run to come, or of an operation that is gone is refused with the reason', async () => {
    const task = await failedTask();
    await register(kit, [asking(`${depot}-unknown`), asking(task, 2)]);
    await register({ ...kit, config: { ...kit.config, operations: {} } }, [asking(task)]);
    expect(kit.sent.rejected.map(({ problems }) => problems[0])).toEqual([
      { path: 'id', reason: expect.stringMatching(/^there is no task/) },
      { path: 'run', reason: expect.stringMatching(/in its run 1/) },
      { path: 'id', reason: expect.stringMatching(/ship, is not configured/) },
    ]);
    expect((await kit.tasks.get(task))?.state.status).toBe('failed');
  });
});

describe('a message that asks for a redrive', () => {
  it('is told from a task by its run', () => {
    expect(parseRedrive('{"id":"t-1","run":3}')).toEqual({ ok: true, value: { id: 't-1', run: 3 } });
    for (const body of [
      '{"id":"t-1"}',
      '{"run":1,"operation":"ship"}',
      '[]',
      'nonsense',
      `{"run":1}${' '.repeat(1_000)}`,
    ])
      expect(parseRedrive(body), body).toBeUndefined();
  });

  it('is refused with what is wrong with it', () => {
    const pathsOf = (body: string) => {
      const parsed = parseRedrive(body);
      return parsed?.ok === false ? parsed.problems.map(({ path }) => path) : parsed;
    };
    expect(pathsOf('{"run":0,"id":"t"}')).toEqual(['run']);
    expect(pathsOf('{"run":1.5,"id":"#"}')).toEqual(['id', 'run']);
    expect(pathsOf('{"run":"1"}')).toEqual(['id', 'run']);
    expect(pathsOf('{"run":1,"id":"t","target":"x"}')).toEqual(['target']);
  });
});
