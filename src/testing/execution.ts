/** Events in which EventBridge reports to the batch queue how a Step Functions execution ended. */
import { type Call, idempotencyKey, printEvent } from '../domain/downstream/downstream.ts';
import { DATA_LIMIT } from '../domain/downstream/execution-event.ts';

/**
 * The executions that were started, by name. As in production (src/downstreams/step-functions.ts), executions of the
 * same items have numbered names, one per attempt. While the last of these executions runs, a new call uses it and
 * starts no other.
 */
export class Executions {
  readonly #last = new Map<string, { readonly number: number; isRunning: boolean }>();

  /** The call with which a new execution starts; undefined if none starts. */
  start(call: Call): Call | undefined {
    const key = idempotencyKey(call);
    const { number, isRunning } = this.#last.get(key) ?? { number: 0, isRunning: false };
    // The last execution may have ended, with its report still on the way.
    if (isRunning || number >= call.attempt) return undefined;
    this.#last.set(key, { number: number + 1, isRunning: true });
    return { ...call, attempt: number + 1 };
  }

  end(call: Call): void {
    this.#last.set(idempotencyKey(call), { number: call.attempt, isRunning: false });
  }
}

/**
 * Most bytes of input and output that EventBridge includes, as they are escaped in the event. If both together are too
 * large, the input is left out first.
 */
const TEXTS_MAX_BYTES = 248 * 1_024;
/** Most bytes that a state may return. */
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
