/**
 * Lambda's loop detection over real requests of the SDK. A server stands for SQS and Lambda: it reads the trace header of
 * each request, as SQS and Lambda do, and counts the invocations of each function in the header's `Lineage`.
 */
import { createHash } from 'node:crypto';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { vi } from 'vitest';
import { sqsQueues } from '../../src/aws/sqs-queues.ts';
import { parseBatch, parseElect, parseGroup } from '../../src/domain/batches/messages.ts';
import type { LambdaTarget } from '../../src/domain/config/endpoints.ts';
import type { Operation } from '../../src/domain/config/resolved.ts';
import { lambdaClient, lambdaDownstream } from '../../src/downstreams/lambda.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { register } from '../../src/steps/register/register.ts';
import { type AwsReply, awsError, startAwsService } from '../factories/aws-service.ts';
import { aConfig, operationName } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { PLENTY, stepKit } from '../steps/step-kit.ts';

/** Lambda stops a function after about 16 invocations in one chain. */
const STOPPED_AFTER = 16;
export const ROOT = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0';
const TARGET: LambdaTarget = {
  kind: 'lambda',
  function: 'jobs',
  timeout: 200_000,
  deadline: 3_600_000,
  requireResults: null,
};
/** With more time left than a call may take. */
const DELIVERY = { ...PLENTY, timeLeft: () => 900_000 };
const QUEUES = ['register', 'elect', 'group', 'batch'] as const;
type Queue = (typeof QUEUES)[number];

/** A message in a queue. */
interface Sent {
  readonly queue: Queue;
  readonly body: string;
  readonly at: number;
  /** The trace header. */
  readonly trace: string;
}

const countsIn = (trace: string): Map<string, number> =>
  new Map(
    (/Lineage=([^;]*)/.exec(trace)?.[1] ?? '').split('|').flatMap((part) => {
      const [name, count] = part.split(':');
      return name ? [[name, Number(count)] as const] : [];
    }),
  );

/** The trace header of the next invocation of a function. */
const invoked = (name: string, trace: string): { readonly trace: string; readonly count: number } => {
  const counts = countsIn(trace);
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  const lineage = [...counts].map((pair) => pair.join(':')).join('|');
  return { count, trace: `${trace.replace(/;?Lineage=[^;]*/, '')};Lineage=${lineage}` };
};

const running = <T>(trace: string, work: () => Promise<T>): Promise<T> => {
  const before = process.env._X_AMZN_TRACE_ID ?? '';
  vi.stubEnv('_X_AMZN_TRACE_ID', trace);
  return work().finally(() => vi.stubEnv('_X_AMZN_TRACE_ID', before));
};

type Send = (queue: Queue, body: object) => Promise<unknown>;
/** What a user's function does with a batch. */
export type Job = (event: { readonly batchId: string }, send: Send) => Promise<object>;

/** The functions and queues of one operation, with a user's function as downstream. End it with `stop`. */
export const startFunctions = async (fields: Partial<Operation>, job: Job) => {
  const waiting: Sent[] = [];
  const all: Sent[] = [];
  const jobCounts: number[] = [];
  const config = aConfig({ operation: operationName('ship'), keys: ['depot'], ...fields, downstream: TARGET });
  const kit = stepKit(memoryStores(), config);

  const accept = (body: string, trace: string): AwsReply => {
    const { QueueUrl, Entries, ...alone } = JSON.parse(body);
    const entries = (Entries ?? [alone]) as { Id: string; MessageBody: string; DelaySeconds?: number }[];
    const queue = String(QueueUrl).split('/').at(-1) as Queue;
    const answers = entries.map(({ Id, MessageBody, DelaySeconds = 0 }) => {
      const sent = { queue, body: MessageBody, at: kit.now + DelaySeconds * 1_000, trace };
      waiting.push(sent);
      all.push(sent);
      return { Id, MessageId: `m${all.length}`, MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex') };
    });
    return { body: Entries ? { Successful: answers, Failed: [] } : answers[0] };
  };

  const service = await startAwsService(async ({ path, headers, body }) => {
    const trace = String(headers['x-amzn-trace-id'] ?? '');
    if (!path.includes('/functions/')) return accept(body, trace);
    const invocation = invoked('jobs', trace);
    if (invocation.count > STOPPED_AFTER) return awsError(400, 'RecursiveInvocationException');
    jobCounts.push(invocation.count);
    return { body: await running(invocation.trace, () => job(JSON.parse(body), send)) };
  });
  const urls = Object.fromEntries(QUEUES.map((queue) => [queue, `${service.options.endpoint}/0/${queue}`]));
  const client = new SQSClient(service.options);
  const send: Send = (queue, body) =>
    client.send(new SendMessageCommand({ QueueUrl: urls[queue] ?? '', MessageBody: JSON.stringify(body) }));
  const downstream = lambdaDownstream(TARGET, lambdaClient(service.options));
  const deps = { ...kit, queues: sqsQueues(client, urls), downstreamOf: () => downstream };
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'groupage');

  const FUNCTIONS: Readonly<Record<Queue, (body: string) => Promise<void>>> = {
    register: (body) => register(deps, [{ messageId: `id-${all.length}`, sentAt: kit.now, body }]),
    elect: (body) => electLeader(deps, parseElect(body)),
    group: (body) => group(deps, parseGroup(body), DELIVERY),
    batch: (body) => handleBatch(deps, parseBatch(body), DELIVERY),
  };
  return {
    deps,
    all,
    /** For each invocation of the user's function, its number in its chain. */
    jobCounts,
    /** Sends a message from outside of Lambda. */
    put: (queue: Queue, body: object) => running('', () => send(queue, body)),
    /** Delivers messages in the order of their times, until no more than `most` are delivered. */
    deliver: async (most: number): Promise<void> => {
      for (let n = 0; n < most && waiting.length > 0; n += 1) {
        const next = waiting.reduce((least, each) => (each.at < least.at ? each : least));
        waiting.splice(waiting.indexOf(next), 1);
        kit.now = Math.max(kit.now, next.at);
        const { trace } = invoked(next.queue, next.trace || ROOT);
        await running(trace, () => FUNCTIONS[next.queue](next.body));
      }
    },
    stop: async () => {
      client.destroy();
      await service.stop();
      vi.unstubAllEnvs();
    },
  };
};
