/** A call for those who get it as an event or a message: what an HTTP call's body and key say, in one. Pure. */
import { type Call, idempotencyKey } from './downstream.ts';
import { printCall } from './http.ts';
import { TRACE_HEADER, traceparentOf } from './trace.ts';

/** `{"idempotencyKey", "traceparent", …}`, the rest as in the body of an HTTP call. */
export const printEvent = (call: Call): string =>
  `${JSON.stringify({ idempotencyKey: idempotencyKey(call), [TRACE_HEADER]: traceparentOf(call) }).slice(0, -1)},${printCall(call).slice(1)}`;
