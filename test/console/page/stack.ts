/** A local stack with its console, as `npm start` runs it, and with a downstream of the test. */

import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { ConfigInput } from '../../../src/domain/config/schema/config.ts';
import { localConsole } from '../../../tools/console/server/local-console.ts';
import { builtPage } from '../../../tools/console/server/page-build.ts';
import { localClients } from '../../../tools/local/clients.ts';
import { type LocalStack, startStack } from '../../../tools/local/stack.ts';
import { eventually } from '../../end-to-end/flow.ts';
import { configFrom } from '../../end-to-end/operations.ts';

export interface ConsoleStack {
  /** The page's address, with a `/` at the end. */
  readonly site: string;
  readonly stack: LocalStack;
  /** Calls the API. @returns the body of the answer. */
  ask<Body>(path: string, body?: object): Promise<Body>;
  /** Sends a register message that is refused, and waits until it is in the rejected queue. */
  refuse(body: string): Promise<void>;
  stop(): Promise<void>;
}

export const startConsoleStack = async (input: ConfigInput): Promise<ConsoleStack> => {
  const config = configFrom(input);
  const site = localConsole(Object.keys(config.operations), builtPage());
  const stack = await startStack({
    config,
    apiPort: 0,
    console: site.around,
    ports: { dynamodb: 0, sqs: 0 },
    host: { log: { info: () => {}, warn: () => {}, error: () => {} }, onEvent: site.onEvent },
    onError: (error) => console.error(error),
  });
  const { api } = stack.addresses;
  const ask = async <Body>(path: string, body?: object) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${api}${path}`, { headers: { 'content-type': 'application/json' }, ...sent });
    return (await response.json()) as Body;
  };
  const rejected = async (): Promise<number> => (await ask<{ readonly rejected: number }>('/queues')).rejected;
  return {
    site: api.replace(/v1$/, ''),
    stack,
    ask,
    refuse: async (body) => {
      const before = await rejected();
      const { sqs } = localClients(stack.addresses);
      const QueueUrl = stack.addresses.queues.register;
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
      sqs.destroy();
      await eventually(async () => (await rejected()) > before);
    },
    stop: () => stack.stop(),
  };
};
