import { describe, expect, it } from 'vitest';
import type { BatchId, TaskId } from '../../src/domain/ids.ts';
import type { Sender } from '../../src/domain/producers/sender.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import { parseRegisterBody } from '../../src/domain/register/register-message.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import { register } from '../../src/steps/register/register.ts';
import { askRedrive, askRedriveOf } from '../../src/steps/tasks/redrive.ts';
import { aConfig, batchId, registeredCandidate as candidate, id, NOW } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { depot, kit, message, registered, suite, where } from './step-suite.ts';

const OPERATOR: Sender = { id: 'AROAOPERATOR', via: 'api' };

const finishing = (batch: BatchId, at = NOW) => ({ id: batch, target: where, attempts: 1, at, keep: 3_600_000 });

/** A task that failed in the given run. */
const failedTask = async (run = 1): Promise<TaskId> => {
  const [task] = (await registered(1)) as [TaskId];
  const batch = batchId(`${where}#${run}#1`);
  await kit.tasks.claim([candidate(task, run)], batch);
  await kit.waiting.remove(
    where,
    (await kit.waiting.first(where, 9)).map(({ entry }) => entry),
  );
  const error = { code: 'bad', message: 'no such depot', retriable: false };
  await kit.tasks.finish([{ id: task, outcome: { status: 'failed', error } }], finishing(batch));
  kit.sent.elect.length = 0;
  return task;
};

const asking = (task: string, run = 1) => ({
  messageId: `${depot}-redrive`,
  body: printRedrive({ id: id(task), run }),
  sender: OPERATOR,
});

const candidates = async () => (await kit.waiting.first(where, 9)).map((row) => row.candidate);

suite('a redrive', () => {
  it('lets a failed task wait again and sends an elect message', async () => {
    const task = await failedTask();
    kit.now = NOW + 60_000;
    await register(kit, [asking(task)]);
    expect(await kit.waiting.first(where, 9)).toMatchObject([{ candidate: candidate(task, 2), at: NOW + 60_000 }]);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where }]);
    expect(kit.events).toContainEqual({ event: 'redriven', operation: 'ship', tasks: 1 });
  });

  it('that is repeated, late or sent with the task itself starts one run', async () => {
    const task = await failedTask();
    await register(kit, [asking(task), asking(task), message(0)]);
    await register(kit, [asking(task)]);
    expect(await candidates()).toEqual([candidate(task, 2)]);
    expect((await kit.tasks.get(task))?.run).toBe(NOW + 1);
    expect(kit.sent.rejected).toEqual([]);
  });

  it("accepts the stored or the counted run number, but no earlier task's", async () => {
    const task = await failedTask();
    await register(kit, [asking(task, NOW - 1)]);
    expect((await kit.tasks.get(task))?.run).toBe(NOW);
    expect(kit.sent.rejected).toMatchObject([
      {
        problems: [
          {
            path: 'run',
            reason: `is ${NOW - 1}, which belongs to an earlier task with the id ${task} that has expired`,
          },
        ],
      },
    ]);
    kit.sent.rejected.length = 0;
    await register(kit, [asking(task, NOW)]);
    expect((await kit.tasks.get(task))?.run).toBe(NOW + 1);
    await register(kit, [asking(task, 3)]);
    expect(kit.sent.rejected).toMatchObject([
      { problems: [{ path: 'run', reason: `is 3, but task ${task} is in run 2` }] },
    ]);
  });

  it('of a past run starts none, even if the task has failed again', async () => {
    const task = await failedTask();
    await register(kit, [asking(task)]);
    await kit.tasks.claim([candidate(task, 2)], batchId(`${where}#2#1`));
    await kit.waiting.remove(
      where,
      (await kit.waiting.first(where, 9)).map(({ entry }) => entry),
    );
    const outcome = { status: 'failed', error: { code: 'bad', message: 'again', retriable: false } } as const;
    await kit.tasks.finish([{ id: task, outcome }], finishing(batchId(`${where}#2#1`)));
    await register(kit, [asking(task)]);
    expect(await kit.tasks.get(task)).toMatchObject({ run: NOW + 1, state: { status: 'failed' } });
    expect(await candidates()).toEqual([]);
    expect(kit.sent.rejected).toEqual([]);
    await register(kit, [asking(task, 2)]);
    expect(await candidates()).toEqual([candidate(task, 3)]);
  });

  describe('of a task with callbacks', () => {
    const sentCallbacks = () => kit.sent.callbacks.map(({ event }) => (JSON.parse(event) as { id: string }).id);
    const listening = (): StepKit => ({
      ...kit,
      config: {
        ...aConfig({ callbacks: { failed: 'ops', succeeded: null } }),
        destinations: { ops: { kind: 'queue', name: 'ops' } },
      },
    });

    it('sends the callback first if its batch is not finished', async () => {
      const task = await failedTask();
      await register(listening(), [asking(task)]);
      expect(sentCallbacks()).toEqual([`${task}.${NOW}`]);
    });

    it('sends no callback if its batch is finished', async () => {
      const task = await failedTask();
      const id = batchId(`${where}#1#1`);
      const batch = await kit.batches.form({
        id,
        target: where,
        sealedBy: 'full',
        candidates: [],
        oldestAt: NOW,
        createdAt: NOW,
      });
      await kit.batches.seal(batch, [], NOW, 3_600_000);
      await register(listening(), [asking(task)]);
      expect(sentCallbacks()).toEqual([]);
      expect((await kit.tasks.get(task))?.run).toBe(NOW + 1);
    });

    it('sends the callback of a settled task first, once a run', async () => {
      const [task] = (await registered(1)) as [TaskId];
      const error = { code: 'cancelled', message: 'by a person', retriable: true };
      await kit.tasks.settle([{ task: { id: task, run: NOW, target: where }, as: { status: 'failed', error } }], {
        at: NOW,
        keep: 3_600_000,
      });
      await register(listening(), [asking(task)]);
      expect(sentCallbacks()).toEqual([`${task}.${NOW}`]);
      await register(listening(), [asking(task)]);
      expect(sentCallbacks()).toEqual([`${task}.${NOW}`]);
    });

    it('starts no run if the callback cannot be sent', async () => {
      const task = await failedTask();
      const callbacks = async (): Promise<never> => {
        throw new Error('throttled');
      };
      const deps = listening();
      await expect(register({ ...deps, queues: { ...deps.queues, callbacks } }, [asking(task)])).rejects.toThrow(
        'throttled',
      );
      expect((await kit.tasks.get(task))?.run).toBe(NOW);
    });
  });

  it('is reported only by the function that began the run', async () => {
    const task = await failedTask();
    const redrive: typeof kit.tasks.redrive = async (failed, at) => {
      await kit.tasks.redrive(failed, at - 1);
      return kit.tasks.redrive(failed, at);
    };
    await register({ ...kit, tasks: { ...kit.tasks, redrive } }, [asking(task)]);
    expect((await kit.tasks.get(task))?.run).toBe(NOW + 1);
    expect(kit.events.filter(({ event }) => event === 'redriven')).toEqual([]);
  });

  it('that stopped before the task waits is completed by its repeated message', async () => {
    const task = await failedTask();
    await kit.tasks.redrive([(await kit.tasks.get(task)) as Task], NOW);
    await register(kit, [asking(task)]);
    expect(await candidates()).toEqual([candidate(task, 2)]);
  });

  it('of a waiting or batched task changes nothing', async () => {
    const [task] = (await registered(1)) as [TaskId];
    await register(kit, [asking(task)]);
    expect(await candidates()).toEqual([candidate(task)]);
    await kit.tasks.claim([candidate(task)], batchId('b#1#1'));
    await register(kit, [asking(task)]);
    expect((await kit.tasks.get(task))?.state.status).toBe('batched');
    expect(kit.sent.rejected).toEqual([]);
  });

  it('of an unknown task, run or operation is rejected with the reason', async () => {
    const task = await failedTask();
    const [waiting] = (await registered(1)) as [TaskId];
    kit.sent.elect.length = 0;
    await register(kit, [asking(`${depot}-unknown`), asking(task, 2)]);
    await register({ ...kit, config: { ...kit.config, operations: {} } }, [asking(task), asking(waiting)]);
    // No leader could group tasks of a removed operation.
    expect(kit.sent.elect).toEqual([]);
    expect(kit.sent.rejected.map(({ problems }) => problems[0])).toEqual([
      { path: 'id', reason: expect.stringMatching(/^there is no task/) },
      { path: 'run', reason: expect.stringMatching(/in run 1/) },
      { path: 'id', reason: expect.stringMatching(/ship, is no longer configured/) },
      { path: 'id', reason: expect.stringMatching(/ship, is no longer configured/) },
    ]);
    expect((await kit.tasks.get(task))?.state.status).toBe('failed');
  });
});

suite('a redrive request', () => {
  it('sends a message for each failed task, and a reason for the others', async () => {
    const task = await failedTask();
    await register(
      kit,
      [1, 2, 3].map((n) => message(n)),
    );
    const [created, batched, succeeded] = [1, 2, 3].map((n) => id(`${depot}-${n}`)) as [TaskId, TaskId, TaskId];
    const batch = batchId(`${where}#2#1`);
    await kit.tasks.claim([candidate(batched), candidate(succeeded)], batch);
    await kit.tasks.finish([{ id: succeeded, outcome: { status: 'succeeded' } }], finishing(batch));
    const ids = [created, task, id(`${depot}-unknown`), batched, succeeded];
    for (const how of ['dry', 'for real'] as const) {
      expect(kit.sent.registered).toEqual([]);
      const { asked, skipped } = await askRedrive(kit, ids, how);
      expect(asked).toEqual([{ id: task, run: NOW }]);
      expect(skipped.map((each) => [each.id, each.reason])).toEqual([
        [created, 'it waits for its batch'],
        [`${depot}-unknown`, expect.stringMatching(/^there is no task .*-unknown/)],
        [batched, `it is under way, in batch ${batch}`],
        [succeeded, 'it has succeeded'],
      ]);
    }
    expect(kit.sent.registered).toEqual([printRedrive({ id: task, run: NOW })]);
  });

  it('sends no message if the operation is removed, since it would be rejected', async () => {
    const task = await failedTask();
    const bare = { ...kit, config: { ...kit.config, operations: {} } };
    const { asked, skipped } = await askRedrive(bare, [task], 'for real');
    expect([asked, skipped]).toEqual([
      [],
      [{ id: task, reason: expect.stringMatching(/ship, is no longer conf/), status: 'failed' }],
    ]);
    expect(kit.sent.registered).toEqual([]);
  });

  it("pages through a Target's failed tasks and skips those no longer failed", async () => {
    const tasks = await registered(3);
    const batch = batchId(`${where}#1#1`);
    await kit.tasks.claim(
      tasks.map((each) => candidate(each)),
      batch,
    );
    const outcome = { status: 'failed', error: { code: 'bad', message: 'no', retriable: false } } as const;
    for (const [index, each] of tasks.entries())
      await kit.tasks.finish([{ id: each, outcome }], finishing(batch, NOW + index));
    const first = await askRedriveOf(kit, where, 'for real', { limit: 2 });
    expect([first.asked.length, first.cursor]).toEqual([2, expect.any(String)]);
    const second = await askRedriveOf(kit, where, 'for real', { limit: 2, cursor: first.cursor });
    expect(second).toEqual({ asked: [{ id: tasks[0], run: NOW }], skipped: [] });
    const behind = { ...kit.tasks, failed: async () => ({ items: tasks }) };
    await register(kit, [asking(tasks[0] as TaskId)]);
    const third = await askRedriveOf({ ...kit, tasks: behind }, where, 'dry', { limit: 9 });
    expect([third.asked.map((each) => each.id), third.skipped]).toEqual([tasks.slice(1), []]);
  });

  it('that is repeated gives a task one more run', async () => {
    const task = await failedTask();
    for (let times = 0; times < 2; times += 1) await askRedrive(kit, [task], 'for real');
    const bodies = kit.sent.registered.map((body, n) => ({ messageId: `${depot}-again-${n}`, body, sender: OPERATOR }));
    expect(bodies).toHaveLength(2);
    for (const each of bodies) await register(kit, [each]);
    expect((await kit.tasks.get(task))?.run).toBe(NOW + 1);
    expect(await candidates()).toEqual([candidate(task, 2)]);
  });
});

describe('a redrive message', () => {
  const redriveIn = (body: string) => {
    const parsed = parseRegisterBody(aConfig(), { messageId: 'm', body });
    return parsed.ok && parsed.value.kind === 'redrive' ? parsed.value.run : undefined;
  };

  it('differs from a task by its run', () => {
    expect(redriveIn('{"id":"t-1","run":3}')).toEqual({ id: 't-1', run: 3 });
    for (const body of [
      '{"id":"t-1"}',
      '{"run":1,"operation":"ship"}',
      '[]',
      'nonsense',
      `{"run":1}${' '.repeat(1_000)}`,
    ])
      expect(redriveIn(body), body).toBeUndefined();
  });

  it('is rejected with its problems', () => {
    const problemsOf = (body: string) => {
      const parsed = parseRegisterBody(aConfig(), { messageId: 'm', body });
      return parsed.ok ? [] : parsed.problems;
    };
    const pathsOf = (body: string) => problemsOf(body).map(({ path }) => path);
    for (const body of ['{"run":1}', '{"run":1,"id":5}', '{"run":1,"id":null}'])
      expect(problemsOf(body), body).toEqual([{ path: 'id', reason: 'must be the id of a task, a text' }]);
    expect(pathsOf('{"run":0,"id":"t"}')).toEqual(['run']);
    expect(pathsOf('{"run":1.5,"id":"#"}')).toEqual(['id', 'run']);
    expect(pathsOf('{"run":"1"}')).toEqual(['id', 'run']);
    expect(pathsOf('{"run":1,"id":"t","target":"x"}')).toEqual(['target']);
  });
});
