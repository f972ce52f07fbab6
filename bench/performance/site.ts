/** The environment of a variant. All variants share the engines and the downstream; each has a meter of its own. */

import { setTimeout } from 'node:timers/promises';
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { AwsClients } from '../../src/aws/clients.ts';
import { type Config, type Operation, operationNamed } from '../../src/domain/config/resolved.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { startTestDownstream, type TestDownstream } from '../../test/factories/downstream.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type Engines, startEngines } from '../../tools/local/engines.ts';
import { add, type Bill, metered, newBill } from '../meter.ts';
import type { Load } from './loads.ts';

/** The usage that is counted, by purpose. */
export interface Usage extends Bill {
  /** The duration of invocations, in milliseconds. */
  readonly millis: Map<string, Millis>;
}

export const newUsage = (): Usage => ({ ...newBill(), millis: new Map() });

/** The parts of the environment that all variants share. */
export interface World {
  readonly engines: Engines;
  readonly downstream: TestDownstream;
  stop(): Promise<void>;
}

/** The duration of a call, whatever its number of tasks, in milliseconds. */
const CALL_MILLIS: Millis = 50;

export const startWorld = async (): Promise<World> => {
  const sqsThread = new URL('./fifo-thread.ts', import.meta.url);
  const engines = await startEngines({ ports: { dynamodb: 0, sqs: 0 }, sqsThread });
  const downstream = await startTestDownstream(async () => {
    await setTimeout(CALL_MILLIS);
    return { status: 200 };
  });
  return {
    engines,
    downstream,
    stop: async () => {
      await downstream.stop();
      await engines.stop();
    },
  };
};

/** The environment of one variant for one load. */
export interface Site {
  readonly load: Load;
  readonly config: Config;
  readonly operation: Operation;
  readonly endpoints: { readonly dynamodb: string; readonly sqs: string };
  /** The prefix of the names of tables and queues. */
  readonly prefix: string;
  readonly usage: Usage;
  /** The clients of the variant's functions. Their requests are counted. */
  readonly clients: AwsClients;
  /** The clients of the variant's event sources, for long polls. Their requests are counted too. */
  readonly polling: AwsClients;
  /** The clients for set-up and checks. Their requests are not counted. */
  readonly bystander: AwsClients;
  /** Errors, in sentences. */
  readonly errors: string[];
}

/** @param name the name of the variant and the load, which differs each time */
export const siteOf = ({ engines, downstream }: World, load: Load, name: string): Site => {
  const parsed = parseConfig({
    operations: {
      [load.name]: {
        target: [load.key],
        batch: { maxSize: load.maxSize, maxWait: `${load.maxWait}ms` },
        downstream: { kind: 'http', url: downstream.url },
      },
    },
  });
  const operation = parsed.ok ? operationNamed(parsed.value, load.name) : undefined;
  if (!parsed.ok || !operation) throw new Error(`the configuration of ${load.name} is refused`);
  const endpoints = { dynamodb: engines.dynamodb.endpoint, sqs: engines.sqs.endpoint };
  const usage = newUsage();
  return {
    load,
    config: parsed.value,
    operation,
    endpoints,
    prefix: `${name}-`,
    usage,
    clients: counting(localClients(endpoints), usage),
    polling: counting(localClients({ ...endpoints, patient: true }), usage),
    bystander: localClients(endpoints),
    errors: [],
  };
};

/** Makes clients that count. Refused writes are counted too, because AWS charges for them as for other writes. */
export const counting = (clients: AwsClients, usage: Usage): AwsClients =>
  metered(clients, usage, { onRefusal: (name, units) => add(usage.writeUnits, name, units) });

const COUNTS = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;
const LOOK: Millis = 200;

/** Waits until no message is in any of the queues. @returns whether that happened within `limit` */
export const emptied = async (sqs: SQSClient, queues: readonly string[], limit: Millis): Promise<boolean> => {
  const until = Date.now() + limit;
  for (;;) {
    const counts = await Promise.all(queues.map((queue) => messagesIn(sqs, queue)));
    if (counts.every((count) => count === 0)) return true;
    if (Date.now() > until) return false;
    await setTimeout(LOOK);
  }
};

const messagesIn = async (sqs: SQSClient, QueueUrl: string): Promise<number> => {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...COUNTS] }));
  return COUNTS.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
};
