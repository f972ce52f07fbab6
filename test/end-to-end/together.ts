/** Helpers of several tests: send tasks for one batch, and count calls in flight. */
import { setTimeout } from 'node:timers/promises';
import { ScanCommand, type ScanCommandOutput } from '@aws-sdk/lib-dynamodb';
import { setting } from '../../src/domain/deployed/environment.ts';
import type { Behaviour, ReceivedCall } from '../factories/downstream.ts';
import { eventually, type Flow, request } from './flow.ts';

/** Sends a request to the API. @returns the status as `code`, and the fields of the answer */
export const ask = async (
  flow: Flow,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> => {
  const init = { method, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await request(flow.backend, path, init);
  return { ...((await response.json()) as object), code: response.status };
};

/** The number of waiting tasks of a depot, at most 100. */
export const waitingIn = async (flow: Flow, depot: string): Promise<number> => {
  const query = new URLSearchParams({ target: flow.target(depot), limit: '100' });
  return ((await flow.get(`/tasks?${query}`)) as { tasks?: object[] }).tasks?.length ?? 0;
};

/** All rows of a deferred list, as `Id Entry`, in no order. */
export const rowsOfList = async ({ backend: { clients, settings } }: Flow, list: string): Promise<string[]> => {
  const rows: string[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page: ScanCommandOutput = await clients.dynamodb.send(
      new ScanCommand({
        TableName: setting(settings, 'listTable'),
        FilterExpression: 'begins_with(Id, :list)',
        ExpressionAttributeValues: { ':list': list },
        ConsistentRead: true,
        ExclusiveStartKey: start,
      }),
    );
    rows.push(...(page.Items ?? []).map(({ Id, Entry }) => `${Id} ${Entry}`));
    start = page.LastEvaluatedKey;
  } while (start);
  return rows;
};

/**
 * Sends tasks while their operation is paused, and resumes it when all of them wait: so they go together on a slow
 * machine too.
 */
export const sendTogether = async (flow: Flow, tasks: readonly object[]): Promise<string[]> => {
  await ask(flow, 'POST', `/operations/${flow.operation}/pause`);
  const ids = await flow.send(tasks);
  for (const id of ids) await eventually(async () => (await flow.task(id)) !== undefined);
  // Each task waits, except for those that a newer one has superseded already.
  const sent = tasks.map((task, n) => ({
    id: ids[n] ?? '',
    depot: depotOf(task),
    mayBeReplaced: 'coalesceKey' in task,
  }));
  for (const [depot, those] of Map.groupBy(sent, (each) => each.depot))
    await eventually(async () => {
      const keyed = await Promise.all(those.filter((each) => each.mayBeReplaced).map(({ id }) => flow.task(id)));
      const replaced = keyed.filter((task) => task?.status === 'succeeded');
      return replaced.length + (await waitingIn(flow, depot)) >= those.length;
    });
  await ask(flow, 'POST', `/operations/${flow.operation}/resume`);
  return ids;
};

const depotOf = (task: object): string =>
  (('payload' in task ? task.payload : task) as { readonly depot: string }).depot;

/** The most calls in flight at once. */
export interface AtOnce {
  all: number;
  ofTarget: number;
  /** Wraps a downstream's behaviour, and counts its calls. */
  readonly count: (behaviour: Behaviour) => Behaviour;
}

/** Milliseconds for which an aborted call may be seen beside the call that follows it. */
const MOMENT = 50;

/**
 * Counts calls in flight as the downstream sees them: from the complete request to the end of the answer or
 * connection.
 */
export const countAtOnce = (): AtOnce => {
  const underWay = new Set<ReceivedCall>();
  const most: AtOnce = {
    all: 0,
    ofTarget: 0,
    count: (behaviour) => async (call, response) => {
      const before = [...underWay];
      underWay.add(call);
      response.once('close', () => underWay.delete(call));
      const counted = setTimeout(MOMENT).then(() => {
        const beside = before.filter((each) => underWay.has(each));
        most.all = Math.max(most.all, 1 + beside.length);
        most.ofTarget = Math.max(most.ofTarget, 1 + beside.filter(({ target }) => target === call.target).length);
      });
      const reply = await behaviour(call, response);
      await counted;
      return reply;
    },
  };
  return most;
};
