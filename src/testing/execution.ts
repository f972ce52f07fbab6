/** How an execution of Step Functions ended, as EventBridge tells it to the batch queue. */
import { type Call, idempotencyKey } from '../downstream/downstream.ts';
import { printEvent } from '../downstream/event.ts';

/** @param end what it returned, as JSON text, or what it failed with */
export const executionEvent = (call: Call, end: { readonly said: string } | { readonly threw: unknown }): string =>
  JSON.stringify({
    version: '0',
    source: 'aws.states',
    'detail-type': 'Step Functions Execution Status Change',
    detail: {
      executionArn: `arn:aws:states:local:000000000000:execution:${call.operation}:${idempotencyKey(call)}`,
      input: printEvent(call),
      inputDetails: { included: true },
      ...('said' in end
        ? { status: 'SUCCEEDED', output: end.said, outputDetails: { included: true } }
        : { status: 'FAILED', ...failure(end.threw) }),
    },
  });

const failure = (cause: unknown) =>
  cause instanceof Error ? { error: cause.name, cause: cause.message } : { error: 'Error', cause: String(cause) };
