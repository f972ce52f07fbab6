/** An eventually consistent read of a batch's members trusts only rows that name the batch and are open. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import type { OpenTask } from '../../src/domain/batches/members.ts';
import type { BatchId, TaskId } from '../../src/domain/ids.ts';
import type { Tasks } from '../../src/ports/tasks.ts';
import type { Item } from '../../src/rows/item.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aTask, candidate } from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';

let resources: Resources;
let tasks: Tasks;
/** Changes what an eventually consistent read returns of a row. `undefined` hides the row. */
let shown: (row: Item) => Item | undefined = (row) => row;

beforeAll(async () => {
  resources = await makeResources();
  const { dynamodb } = resources.clients;
  dynamodb.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      const { RequestItems } = args.input as { RequestItems?: Record<string, { ConsistentRead?: boolean }> };
      const { Responses } = answer.output as { Responses?: Record<string, Item[]> };
      for (const [table, { ConsistentRead }] of Object.entries(RequestItems ?? {}))
        if (!ConsistentRead && Responses?.[table])
          Responses[table] = Responses[table].flatMap((row) => shown(row) ?? []);
      return answer;
    },
    { step: 'initialize', name: 'stale' },
  );
  tasks = dynamoDBTasks(dynamodb, resources.tables.task);
});
afterAll(() => resources.stop());

const PAYLOADS = ['{}', `{"s":"${'x'.repeat(2_000)}"}`];

/** Two tasks in a batch, one with a small payload and one with a large one. */
const claimed = async (): Promise<{ readonly ids: TaskId[]; readonly batch: BatchId }> => {
  const { t, batch, target } = fresh();
  const made = PAYLOADS.map((payload, n) => aTask({ id: t(n), target, payload }));
  await tasks.insert(made);
  await tasks.storePayloads(made.slice(1).map((task) => ({ ...task, run: 1 })));
  const ids = made.map(({ id }) => id);
  await tasks.claim(
    ids.map((id) => candidate(id)),
    batch,
  );
  return { ids, batch };
};

const payloads = (open: readonly OpenTask[]): readonly string[] => open.map(({ payload }) => payload);

describe('an eventually consistent read of members', () => {
  it.each<{ readonly what: string; readonly show: typeof shown; readonly left?: readonly string[] }>([
    { what: 'missing', show: () => undefined },
    { what: 'older than their claim', show: ({ BatchId: _, ...row }) => ({ ...row, Status: 'created' }) },
    { what: 'of another task with the id', show: (row) => ({ ...row, Status: 'succeeded', BatchId: 'b#1#1' }) },
    { what: 'between two runs', show: ({ BatchId: _, ...row }) => ({ ...row, Status: 'created', Run: 2 }) },
    {
      what: 'without their payloads',
      show: (row) => (String(row.Id).includes('#payload') ? undefined : row),
      left: PAYLOADS.slice(0, 1),
    },
  ])('leaves out rows that are $what', async ({ show, left = [] }) => {
    shown = show;
    const { ids, batch } = await claimed();
    expect(payloads(await tasks.readEventually(ids, batch))).toEqual(left);
  });
});
