/** Events in which EventBridge reports to the batch queue how a Step Functions execution ended. */
import { type Call, idempotencyKey, printEvent } from '../domain/downstream/downstream.ts';
import { DATA_LIMIT } from '../domain/downstream/execution-event.ts';

/**
 * The executions that were started, by name. As in production (src/downstreams/step-functions.ts), executions of the
 * same items have numbered names, one per attempt. If the last of these executions is still running, a new call starts
 * no execution, and waits for that execution.
 */
export class Executions {
  readonly #last = new Map<string, { readonly number: number; isRunning: boolean }>();

  /** The call with which a new execution starts. Undefined if no execution is started. */
  start(call: Call): Call | undefined {
    const key = idempotencyKey(call);
    const { number, isRunning } = this.#last.get(key) ?? { number: 0, isRunning: false };
    // The last execution may have ended while its report is still on the way.
    if (isRunning || number >= call.attempt) return undefined;
    this.#last.set(key, { number: number + 1, isRunning: true });
    return { ...call, attempt: number + 1 };
  }

  end(call: Call): void {
    this.#last.set(idempotencyKey(call), { number: call.attempt, isRunning: false });
  }
}

/**
 * Maximum number of bytes of input and output that EventBridge includes, as they are escaped in the event. If input and
 * output together are too large, EventBridge omits the input first.
 */
const TEXTS_MAX_BYTES = 248 * 1_024;
/** Maximum number of bytes that a state may return. */
const OUTPUT_MAX_BYTES = 256 * 1_024;
const OUTPUT_TOO_LARGE = Object.assign(
  new Error('The state returned a result with a size exceeding the maximum number of bytes service limit'),
  { name: DATA_LIMIT },
);

/** @param said what the execution returned, as JSON text, or the error with which it failed */
export const executionEvent = (call: Call, said: { readonly said: string } | { readonly threw: unknown }): string => {
  const isTooLarge = 'said' in said && Buffer.byteLength(said.said) > OUTPUT_MAX_BYTES;
  const end = isTooLarge ? { threw: OUTPUT_TOO_LARGE } : said;
  const [input, output] = [printEvent(call), 'said' in end ? end.said : ''];
  const fits = (...texts: string[]): boolean =>
    texts.reduce((sum, text) => sum + Buffer.byteLength(JSON.stringify(text)), 0) <= TEXTS_MAX_BYTES;
  return JSON.stringify({
    version: '0',
    source: 'aws.states',
    'detail-type': 'Step Functions Execution Status Change',
    detail: {
      executionArn: `arn:aws:states:local:000000000000:execution:${call.operation}:${idempotencyKey(call)}-${call.attempt}`,
      ...(fits(input, output) ? { input, inputDetails: { included: true } } : { inputDetails: { included: false } }),
      ...('threw' in end
        ? { status: 'FAILED', ...failure(end.threw) }
        : {
            status: 'SUCCEEDED',
            ...(fits(output) ? { output, outputDetails: { included: true } } : { outputDetails: { included: false } }),
          }),
    },
  });
};

const failure = (cause: unknown) =>
  cause instanceof Error ? { error: cause.name, cause: cause.message } : { error: 'Error', cause: String(cause) };
