/** A local stack with its own engines, which also gives its events and its cost. */
import { add, type Bill, metered, newBill } from '../../bench/meter.ts';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import { localConsole } from '../../tools/console/server/local-console.ts';
import { type LocalStack, type StackOptions, startStack } from '../../tools/local/stack.ts';
import { backendOf } from '../backends/here.ts';
import { type Flow, flowOn } from '../end-to-end/flow.ts';
import { configFrom, type Fields, operationAt } from '../end-to-end/operations.ts';
import { startTestDownstream } from '../factories/downstream.ts';
import { errorLog } from '../factories/error-log.ts';

export interface LocalFlow extends Flow {
  readonly stack: LocalStack;
  readonly events: FlowEvent[];
  readonly bill: Bill;
}

/** @param fields of its only operation, `ship`. @param ofAll the rest of the configuration. */
export const startLocalFlow = async (
  fields: Fields = {},
  options: Partial<StackOptions> = {},
  ofAll: Pick<ConfigInput, 'register'> = {},
): Promise<LocalFlow> => {
  const downstream = await startTestDownstream();
  const events: FlowEvent[] = [];
  const errors: string[] = [];
  const bill = newBill();
  const site = localConsole(['ship'], Promise.resolve({ ok: false, reason: 'nobody looks at it here' }));
  const stack = await startStack({
    config: configFrom({ operations: { ship: operationAt(downstream.url, fields) }, ...ofAll }),
    apiPort: 0,
    ports: { dynamodb: 0, sqs: 0 },
    host: {
      log: errorLog(errors),
      onEvent: (event) => {
        events.push(event);
        site.onEvent(event);
      },
    },
    console: site.around,
    clients: (clients) => metered(clients, bill),
    onInvoke: (name) => add(bill.invocations, name),
    onError: (error) => errors.push(error.message),
    ...options,
  });
  return { ...flowOn(backendOf(stack, errors), downstream, 'ship'), stack, events, bill };
};
