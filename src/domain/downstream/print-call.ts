/** The text of a call: the body of an HTTP request, and the event or message that says the same and its key. Pure. */

import { printItem } from '../tasks/task.ts';
import { type Call, idempotencyKey } from './downstream.ts';
import { TRACE_HEADER, traceparentOf } from './trace.ts';

/** `{"idempotencyKey", "traceparent", …}`, the rest as in the body of an HTTP call. */
export const printEvent = (call: Call): string =>
  `${JSON.stringify({ idempotencyKey: idempotencyKey(call), [TRACE_HEADER]: traceparentOf(call) }).slice(0, -1)},${printCall(call).slice(1)}`;

/** The body of a call. Payloads go through as they were sent; where they were merged, their inputs instead. */
export const printCall = ({ batchId, operation, target, attempt, items, inputs }: Call): string => {
  const envelope = JSON.stringify({ batchId, operation, target, attempt }).slice(0, -1);
  if (inputs)
    return `${envelope},"inputs":[${inputs.join(',')}],"items":${JSON.stringify(items.map(({ id }) => ({ id })))}}`;
  return `${envelope},"items":[${items.map(({ id, payload }) => printItem(id, payload)).join(',')}]}`;
};
