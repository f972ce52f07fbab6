/**
 * A local stack in a process of its own, like the one that `npm start` runs. It sends its addresses, and later its
 * measures, to the parent process.
 */

import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { errorLog } from '../../test/factories/error-log.ts';
import { startStack } from '../../tools/local/stack.ts';

const parsed = parseConfig(JSON.parse(process.argv[2] ?? '{}'));
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));

/** For each function, the current number of invocations, and the highest number at any time. */
const running = new Map<string, number>();
const most: Record<string, number> = {};
const errors: string[] = [];
let earlyGuards = 0;

const stack = await startStack({
  config: parsed.value,
  apiPort: 0,
  ports: { dynamodb: 0, sqs: 0 },
  host: {
    log: errorLog(errors),
    onEvent: ({ event }) => {
      if (event === 'early-guard') earlyGuards += 1;
    },
  },
  onInvoke: (name, done) => {
    const count = (running.get(name) ?? 0) + 1;
    running.set(name, count);
    most[name] = Math.max(most[name] ?? 0, count);
    const ended = () => void running.set(name, (running.get(name) ?? 0) - 1);
    done.then(ended, ended);
  },
  onError: (error) => errors.push(error.message),
});
process.send?.({ sqs: stack.addresses.sqs, queue: stack.addresses.queues.register });
process.on('message', async () => {
  await stack.stop();
  process.send?.({ most, earlyGuards, errors }, () => process.exit());
});
