/** What a load did in the account: calls, final states of its tasks, metrics and logs. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { dynamoDBTasks } from '../../../src/aws/dynamodb-tasks.ts';
import type { Millis, TaskId } from '../../../src/domain/ids.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import type { Account } from '../../account/stacks.ts';
import type { Called } from '../loads/call-log.ts';
import type { LoadName } from '../loads/plan.ts';
import type { Ran } from '../loads/run-loads.ts';
import type { Sent } from '../loads/send.ts';
import { type Logged, NOTHING_LOGGED, readLogs, readMetrics } from './cloudwatch.ts';
import { type Figures, figuresOf, queriesOf } from './figures.ts';
import type { Resources } from './resources.ts';

export interface Observed extends Logged {
  readonly load: LoadName;
  readonly sent: number;
  readonly cutShort: string | undefined;
  /** Time from the first to the last send, in ms. */
  readonly sentOver: Millis;
  readonly called: Called;
  /** Number of tasks by their state in the table; `missing` for tasks that are not stored. */
  readonly states: Readonly<Record<string, number>>;
  readonly figures: Figures;
  /** What could not be read, and why. */
  readonly unread: readonly string[];
}

interface From {
  readonly account: Account;
  readonly dynamodb: DynamoDBDocumentClient;
  readonly resources: Resources;
}

export const observe = async ({ account, dynamodb, resources }: From, ran: Ran, called: Called): Promise<Observed> => {
  const { load, sent, cutShort, span } = ran;
  const queries = queriesOf(resources, load);
  const unread: string[] = [];
  // A missing permission must not cost the other results of a run that took hours.
  const orElse =
    <T>(what: string, otherwise: T) =>
    (cause: unknown): T => {
      unread.push(`${what}: ${reasonOf(cause)}`);
      return otherwise;
    };
  const [values, logged, states] = await Promise.all([
    readMetrics(account.region, queries, span).catch(orElse('metrics', [])),
    readLogs(account.region, resources, span).catch(orElse('logs', NOTHING_LOGGED)),
    statesOf(dynamodb, resources.taskTable, sent).catch(orElse('tasks', {})),
  ]);
  const [first, last] = [sent[0]?.at ?? 0, sent.at(-1)?.at ?? 0];
  return {
    load,
    sent: sent.length,
    cutShort,
    sentOver: last - first,
    called,
    states,
    figures: figuresOf(queries, values),
    unread,
    ...logged,
  };
};

/** Tasks that are read at once. */
const READ_AT_ONCE = 1_000;

const statesOf = async (
  dynamodb: DynamoDBDocumentClient,
  table: string,
  sent: readonly Sent[],
): Promise<Record<string, number>> => {
  const tasks = dynamoDBTasks(dynamodb, table);
  const counts: Record<string, number> = {};
  for (let start = 0; start < sent.length; start += READ_AT_ONCE) {
    const ids = sent.slice(start, start + READ_AT_ONCE).map(({ id }) => id as TaskId);
    for (const outline of await tasks.outlines(ids)) {
      const state = outline?.status ?? 'missing';
      counts[state] = (counts[state] ?? 0) + 1;
    }
  }
  return counts;
};
