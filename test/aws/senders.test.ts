/** The register function on real queues and tables: who sent its messages, and what the stage decides about them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { Context, SQSEvent } from 'aws-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compose } from '../../lambdas/register.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { dynamoDBStage } from '../../src/aws/dynamodb-stage.ts';
import { SENDER, sqsDeadLetters, sqsQueues } from '../../src/aws/sqs-queues.ts';
import { CONFIG_ASSET, ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import { parseRejection } from '../../src/domain/register/rejection.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { errorLog } from '../factories/error-log.ts';
import { aConfig, id, NOW } from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';

const OWN = 'AROAAPI0000000000EXMP';

let resources: Resources;
beforeAll(async () => {
  resources = await makeResources();
});
afterAll(() => resources?.stop());

const stage = () => dynamoDBStage(resources.clients.dynamodb, resources.tables.batchLock);

/** The register function, as a new process. */
const registerFunction = () => {
  const folder = join(temporaryFolder('function'), 'register');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, CONFIG_ASSET), JSON.stringify(aConfig()));
  const { tables, queues, clients } = resources;
  const environment = {
    LAMBDA_TASK_ROOT: folder,
    [ENVIRONMENT.taskTable]: tables.task,
    [ENVIRONMENT.batchLockTable]: tables.batchLock,
    [ENVIRONMENT.batchTable]: tables.batch,
    [ENVIRONMENT.fanOutTable]: tables.fanOut,
    [ENVIRONMENT.listTable]: tables.list,
    [ENVIRONMENT.registerQueue]: queues.register,
    [ENVIRONMENT.electQueue]: queues.elect,
    [ENVIRONMENT.groupQueue]: queues.group,
    [ENVIRONMENT.rejectedQueue]: queues.rejected,
    [ENVIRONMENT.ownRoles]: `AROASWEEP00000000EXMP,${OWN}`,
  };
  return compose(environment, { clients, log: errorLog([]) }) as (
    event: SQSEvent,
    context: Context,
  ) => Promise<unknown>;
};

/** A message as Lambda passes it to the function. */
const record = (body: string, SenderId: string, passedOn?: string) => ({
  messageId: `m-${Math.random()}`,
  body,
  eventSourceARN: 'arn:aws:sqs:eu-test-1:1:Register',
  attributes: { ApproximateReceiveCount: '1', SentTimestamp: String(NOW), SenderId },
  messageAttributes: passedOn === undefined ? {} : { [SENDER]: { dataType: 'String', stringValue: passedOn } },
});
const deliver = (...Records: ReturnType<typeof record>[]) =>
  registerFunction()({ Records } as unknown as SQSEvent, {} as Context);
/** The senders of the messages in the rejected queue, and the paths of their problems. */
const rejected = async (count: number) => {
  const all: unknown[] = [];
  while (all.length < count) {
    const { Messages = [] } = await resources.clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: resources.queues.rejected, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    for (const { Body = '' } of Messages) {
      const kept = parseRejection(Body);
      all.push([kept?.sender, kept?.problems.map(({ path }) => path)]);
    }
  }
  return all;
};

it('a stage decides once, by whether it has Targets; all later decisions are that one', async () => {
  expect([await stage().readMode(), await stage().hasTargets()]).toEqual([undefined, false]);
  const task = JSON.stringify({ operation: 'ship', id: fresh().t(1), payload: { depot: 'MUC' } });
  await deliver(record(task, 'AROAPRODUCER00000EXMP:i-1'));
  expect([await stage().readMode(), await stage().hasTargets()]).toEqual(['enforce', true]);
  expect(await stage().decideMode('warn')).toBe('enforce');
});

it('strangers forge no sender; roles of our own pass senders on', async () => {
  const run = printRedrive({ id: id('unknown-task'), run: 1 });
  const item = JSON.stringify({ operation: 'ship', payload: { depot: 'MUC' }, fanOutItem: 'f:0:0' });
  await deliver(
    record(item, `AROASTRANGER00000EXMP:${OWN}`, `api:${OWN}`),
    record(item, `${OWN}:Flow-Api`, 'api:AROACALLER0000000EXMP'),
    record(item, 'AROASWEEP00000000EXMP:Flow-Sweep', 'queue:AIDAUSER0000000000EXM'),
    record(run, `${OWN}:Flow-Api`),
  );
  expect(await rejected(4)).toEqual(
    expect.arrayContaining([
      [{ id: 'AROASTRANGER00000EXMP', via: 'queue' }, ['fanOutItem']],
      [{ id: 'AROACALLER0000000EXMP', via: 'api' }, ['fanOutItem']],
      [{ id: 'AIDAUSER0000000000EXM', via: 'queue' }, ['fanOutItem']],
      [{ id: OWN, via: 'api' }, ['id']],
    ]),
  );
});

it('a dead letter keeps the sender that a role of our own passed on, and loses a forged one', async () => {
  const { clients, queues, deadLetters: dead } = resources;
  // The engines report the account as the sender of every message.
  const [account = ''] = /\d{12}/.exec(queues.register) ?? [];
  const CLAIMED = { id: 'AROACALLER0000000EXMP', via: 'api' } as const;
  await sqsQueues(clients.sqs, { register: dead.register }).register(['{"own":1}'], CLAIMED);
  const lettersBy = (ownRoles: readonly string[]) => sqsDeadLetters(clients.sqs, queues, dead, ownRoles);
  const [believed] = await lettersBy([account]).receive('register');
  expect(believed?.sender).toEqual(CLAIMED);
  await clients.sqs.send(
    new SendMessageCommand({
      QueueUrl: dead.register,
      MessageBody: '{"forged":1}',
      MessageAttributes: { [SENDER]: { DataType: 'String', StringValue: 'api:AROAFORGED' } },
    }),
  );
  const [doubted] = await lettersBy([OWN]).receive('register');
  expect(doubted?.sender).toEqual({ id: account, via: 'queue' });
  if (!doubted) return;
  await lettersBy([OWN]).redrive('register', doubted, 0);
  const { Messages = [] } = await clients.sqs.send(
    new ReceiveMessageCommand({ QueueUrl: queues.register, WaitTimeSeconds: 2, MessageAttributeNames: ['All'] }),
  );
  expect(Messages[0]?.MessageAttributes?.[SENDER]?.StringValue).toBe(`queue:${account}`);
});
