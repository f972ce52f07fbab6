/**
 * A local stack in a process of its own, like the one that `npm start` runs. It sends its addresses, and later its
 * errors, to the parent process.
 */

import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { errorLog } from '../../test/factories/error-log.ts';
import { startStack } from '../../tools/local/stack.ts';

const parsed = parseConfig(JSON.parse(process.argv[2] ?? '{}'));
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));

const errors: string[] = [];

const stack = await startStack({
  config: parsed.value,
  apiPort: 0,
  ports: { dynamodb: 0, sqs: 0 },
  host: { log: errorLog(errors) },
  onError: (error) => errors.push(error.message),
});
process.send?.({ sqs: stack.addresses.sqs, queue: stack.addresses.queues.register });
process.on('message', async () => {
  await stack.stop();
  process.send?.({ errors }, () => process.exit());
});
