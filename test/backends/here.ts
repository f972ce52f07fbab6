/** A stack whose functions run in the test's process, on engines of its own or on engines that the run shares. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../src/domain/config/resolved.ts';
import { type RunningStack, type RunOptions, runStack, startStack } from '../../tools/local/stack.ts';
import { errorLog } from '../factories/error-log.ts';
import { recorded } from '../permissions/record.ts';
import type { Backend } from './backend.ts';
import type { GivenEngines } from './given.ts';
import { strict } from './strict.ts';

/** A prefix that no other test file on the same engines has. */
export const freshPrefix = (): string => `t${randomBytes(4).toString('hex')}-`;

export const openHere = async ({ engines }: GivenEngines, config: Config): Promise<Backend> => {
  const errors: string[] = [];
  const options: RunOptions = {
    config,
    apiPort: 0,
    host: {
      log: errorLog(errors),
    },
    clients: (clients, functionName) => recorded(strict(clients), functionName),
    onError: (error) => errors.push(error.message),
  };
  const stack = engines
    ? await runStack({ ...engines, prefix: freshPrefix() }, options)
    : await startStack({ ...options, ports: { dynamodb: 0, sqs: 0 } });
  return backendOf(stack, errors);
};

export const backendOf = (stack: RunningStack, errors: readonly string[]): Backend => ({
  clients: stack.clients,
  settings: stack.settings,
  api: (path, init) => fetch(`${stack.addresses.api}${path}`, init),
  invoke: async (part, event) => {
    const fn = [...stack.functions.values()].find(({ name }) => name.includes(part));
    if (!fn) throw new Error(`the template has no function ${part}: it has ${[...stack.functions.keys()].join(', ')}`);
    await fn.invoke(event);
  },
  errors: () => errors,
  stop: () => stack.stop(),
});
