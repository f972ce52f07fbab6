/** Removes what runs created: their stacks, and tables, queues and log groups that no stack owns. */
import { setTimeout } from 'node:timers/promises';
import { DeleteStackCommand } from '@aws-sdk/client-cloudformation';
import {
  CloudWatchLogsClient,
  DeleteLogGroupCommand,
  paginateDescribeLogGroups,
} from '@aws-sdk/client-cloudwatch-logs';
import { DeleteTableCommand, DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { DeleteQueueCommand, paginateListQueues, SQSClient } from '@aws-sdk/client-sqs';
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { type Account, findStack, listStacks } from '../account/stacks.ts';
import { stateOf } from '../deploy/stacks.ts';
import { UNTIL_TAG } from './deployed/load-stack.ts';
import { STAGE_PREFIX } from './run-settings.ts';

/** A run of which stacks exist. */
export interface FoundRun {
  readonly id: string;
  /** When it ends at the latest, in ISO 8601. */
  readonly until: string;
}

/** `Groupage-verify-ID-Flow`, and the stages of the tests, `Groupage-NAME-test-ID-Flow`. */
const NAME = new RegExp(`^Groupage-(?:${STAGE_PREFIX}|[a-z0-9-]+-test-)([a-z0-9]+)-(?:Data|Flow|Ops|Load)$`);

/** Runs with stacks in this account and region. A user's own stage may be named like that of a run. @throws CommandFailure */
export const runsIn = async (account: Account): Promise<FoundRun[]> => {
  const runs = new Map<string, string>();
  for (const { name, tags } of await listStacks(account)) {
    const id = name.startsWith(`Groupage-${STAGE_PREFIX}`) ? NAME.exec(name)?.[1] : undefined;
    const until = tags[UNTIL_TAG];
    if (id !== undefined && until !== undefined) runs.set(id, until);
  }
  return [...runs].map(([id, until]) => ({ id, until }));
};

/** Whether a run must have ended. */
export const isOver = ({ until }: FoundRun, now: Millis): boolean => Date.parse(until) < now;

/** A stack can be removed only after those that use its exports. */
const ORDER = ['Ops', 'Flow', 'Data'];
const LOAD = 'Load';

/** Milliseconds between two looks at a stack, and the longest time that its removal may take. */
const LOOK_EVERY: Millis = 2_000;
const PATIENCE: Millis = 30 * MINUTE;
/** Removals of a stack that fail, before it is reported. */
const TRIES = 3;

/**
 * Removes a run. It continues after a failure. The stack with the load is removed last, and only if nothing else
 * remains, because by this stack a later removal finds the run.
 *
 * @param signal ends the waiting; CloudFormation continues with removals that have started.
 * @returns what remains, and why. Empty if nothing does.
 */
export const removeRun = async (account: Account, id: string, signal: AbortSignal): Promise<string[]> => {
  const left: string[] = [];
  try {
    const names = (await listStacks(account)).map(({ name }) => name).filter((name) => NAME.exec(name)?.[1] === id);
    const remove = async (end: string): Promise<void> => {
      for (const name of names.filter((each) => each.endsWith(`-${end}`))) {
        const reason = await removeStack(account, name, signal);
        if (reason !== undefined) left.push(`the stack ${name}: ${reason}`);
      }
    };
    for (const end of ORDER) await remove(end);
    left.push(...(await removeLoose(account, id)));
    if (left.length === 0) await remove(LOAD);
    else
      left.push(
        ...names.filter((name) => name.endsWith(`-${LOAD}`)).map((name) => `the stack ${name}: it is removed last`),
      );
  } catch (cause) {
    left.push(`what the run ${id} created could not be listed or removed: ${reasonOf(cause)}`);
  }
  return left;
};

/** @returns why the stack still exists, or undefined if it does not. */
const removeStack = async (account: Account, name: string, signal: AbortSignal): Promise<string | undefined> => {
  const until = Date.now() + PATIENCE;
  let tries = 0;
  for (;;) {
    const stack = await findStack(account, name);
    if (stack === undefined || stack.status === 'DELETE_COMPLETE') return undefined;
    if (signal.aborted) return `the removal was interrupted (${stack.status})`;
    if (Date.now() > until) return `its removal takes longer than ${PATIENCE / MINUTE} minutes (${stack.status})`;
    // CloudFormation refuses to remove a stack while it updates it.
    if (stack.status === 'CREATE_IN_PROGRESS' || stateOf(stack.status) !== 'busy') {
      if (stack.status === 'DELETE_FAILED' && tries >= TRIES)
        return `its removal failed ${TRIES} times (${stack.status})`;
      tries += 1;
      await account.cloudFormation.send(new DeleteStackCommand({ StackName: name }));
    }
    await setTimeout(LOOK_EVERY, undefined, { signal }).catch(() => {});
  }
};

/** A kind of resource that the tests for deployed stacks also create outside of stacks. */
interface Loose {
  readonly kind: string;
  readonly list: () => AsyncIterable<readonly (string | undefined)[]>;
  readonly remove: (name: string) => Promise<unknown>;
}

const looseIn = ({ region }: Account): Loose[] => {
  const [dynamodb, sqs, logs] = [
    new DynamoDBClient({ region }),
    new SQSClient({ region }),
    new CloudWatchLogsClient({ region }),
  ];
  return [
    {
      kind: 'table',
      list: async function* () {
        for await (const { TableNames = [] } of paginateListTables({ client: dynamodb }, {})) yield TableNames;
      },
      remove: (TableName) => dynamodb.send(new DeleteTableCommand({ TableName })),
    },
    {
      kind: 'queue',
      list: async function* () {
        for await (const { QueueUrls = [] } of paginateListQueues({ client: sqs }, { MaxResults: 1_000 }))
          yield QueueUrls;
      },
      remove: (QueueUrl) => sqs.send(new DeleteQueueCommand({ QueueUrl })),
    },
    {
      kind: 'log group',
      list: async function* () {
        for await (const { logGroups = [] } of paginateDescribeLogGroups({ client: logs }, {}))
          yield logGroups.map(({ logGroupName }) => logGroupName);
      },
      remove: (logGroupName) => logs.send(new DeleteLogGroupCommand({ logGroupName })),
    },
  ];
};

const removeLoose = async (account: Account, id: string): Promise<string[]> => {
  const left: string[] = [];
  const isOurs = (name: string): boolean => new RegExp(`-(?:${STAGE_PREFIX}|test-)${id}(?:-|$)`).test(name);
  for (const { kind, list, remove } of looseIn(account)) {
    const names: string[] = [];
    for await (const page of list()) names.push(...page.filter((name) => name !== undefined).filter(isOurs));
    for (const name of names)
      try {
        await remove(name);
      } catch (cause) {
        // SQS lists a deleted queue for up to a minute.
        if (!/NonExistent|NotFound|does not exist/i.test(String(cause)))
          left.push(`the ${kind} ${name}: ${reasonOf(cause)}`);
      }
  }
  return left;
};
