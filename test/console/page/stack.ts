/** A local stack with its console, as `npm start` runs it, and with a downstream of the test. */

import type { ConfigInput } from '../../../src/domain/config/schema/config.ts';
import { localConsole } from '../../../tools/console/server/local-console.ts';
import { builtPage } from '../../../tools/console/server/page-build.ts';
import { type LocalStack, startStack } from '../../../tools/local/stack.ts';
import { configFrom } from '../../end-to-end/operations.ts';

export interface ConsoleStack {
  /** The page's address, with a `/` at the end. */
  readonly site: string;
  readonly stack: LocalStack;
  /** Calls the API. @returns the body of the answer. */
  ask<Body>(path: string, body?: object): Promise<Body>;
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
  return {
    site: api.replace(/v1$/, ''),
    stack,
    ask: async <Body>(path: string, body?: object) => {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(`${api}${path}`, { headers: { 'content-type': 'application/json' }, ...sent });
      return (await response.json()) as Body;
    },
    stop: () => stack.stop(),
  };
};
