/** Groupage: the template's functions and queues, as `npm start` runs them. */

import { errorLog } from '../../../test/factories/error-log.ts';
import { runStack } from '../../../tools/local/stack.ts';
import { add } from '../../meter.ts';
import { counting, type Site } from '../site.ts';
import type { Variant } from './variant.ts';

export const ours: Variant = {
  name: 'Groupage',
  about: 'the functions, queues and tables of the template, as `npm start` runs them.',
  start: async (site) => {
    const { config, endpoints, prefix, usage, errors } = site;
    const stack = await runStack(
      { ...endpoints, prefix },
      {
        config,
        apiPort: 0,
        host: {
          log: errorLog(errors),
        },
        clients: (clients) => counting(clients, usage),
        onInvoke: (name) => add(usage.invocations, name),
        onError: (error) => errors.push(error.message),
      },
    );
    for (const fn of stack.functions.values()) fn.invoke = timed(site, fn.name, fn.invoke);
    const { queues } = stack.addresses;
    return { queueUrl: queues.register, queues: Object.values(queues), stop: () => stack.stop() };
  },
};

type Invoke = (event: unknown) => Promise<unknown>;

/** Measures the duration of each invocation. */
const timed =
  ({ usage }: Site, name: string, invoke: Invoke): Invoke =>
  async (event) => {
    const from = performance.now();
    try {
      return await invoke(event);
    } finally {
      add(usage.millis, name, performance.now() - from);
    }
  };
