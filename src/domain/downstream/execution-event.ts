/**
 * Reads EventBridge's event about the end of a Step Functions execution. Groupage treats it as a report of the job, so
 * a state machine needs no state that reports. Pure.
 *
 * https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
 */

import { isObject, parseJson, rawMembers } from '../../util/json-text.ts';
import { type BatchId, isBatchId } from '../ids.ts';
import { failureIn, HINT } from './foreign-shape.ts';

/** The result of a batch: a list of results, as JSON text; null if all succeeded. */
export interface ExecutionReport {
  readonly batchId: BatchId;
  readonly results: string | null;
  /** The results of a merged job's inputs, as JSON text. */
  readonly inputs?: string;
  /** The execution succeeded, and its output has no results. So `results` says that its items succeeded. */
  readonly withoutResults?: true;
}

/** An execution that cannot be matched with a batch. */
export interface UnknownExecution {
  /** Which execution, why, and what to do. */
  readonly problem: string;
}

const DETAIL_TYPE = 'Step Functions Execution Status Change';

/**
 * Reads the event from a message. Undefined if the body is no event about an execution that has ended.
 *
 * @param body of a message.
 */
export const parseExecutionEvent = (body: string): ExecutionReport | UnknownExecution | undefined => {
  const event = objectIn(body);
  if (event?.['detail-type'] !== DETAIL_TYPE || event.source !== 'aws.states' || !isObject(event.detail))
    return undefined;
  const { detail } = event;
  if (!isEnd(detail.status)) return undefined;
  const { batchId, items } = objectIn(detail.input) ?? {};
  const output = objectIn(detail.output);
  const named = [batchId, output?.batchId].find(isBatchId);
  if (named === undefined) return { problem: problemOf(detail) };
  if (detail.status !== 'SUCCEEDED') return { batchId: named, results: forEach(items, failedExecution(detail)) };
  if (isLeftOut(detail.outputDetails)) return { batchId: named, results: forEach(items, OUTPUT_LEFT_OUT) };
  const raw = output && rawMembers(String(detail.output));
  const [results, inputs] = [raw?.get('results'), raw?.get('inputs')];
  if (results !== undefined) return { batchId: named, results };
  if (inputs !== undefined) return { batchId: named, results: null, inputs };
  const failure = output && failureIn(output);
  return failure === undefined
    ? { batchId: named, results: allDone(items), withoutResults: true }
    : { batchId: named, results: forEach(items, unread(failure)) };
};

const objectIn = (text: unknown): Record<string, unknown> | undefined => {
  const json = typeof text === 'string' ? parseJson(text) : undefined;
  return json?.ok && isObject(json.value) ? json.value : undefined;
};

const isEnd = (status: unknown): boolean =>
  status === 'SUCCEEDED' || status === 'FAILED' || status === 'TIMED_OUT' || status === 'ABORTED';

/** Input and output together may have 248 KiB. EventBridge leaves out anything larger. */
const isLeftOut = (details: unknown): boolean => isObject(details) && details.included === false;

const REPORT_ITSELF =
  'let the last state send {"batchId", "results"} to the batch queue, or lower the operation\'s batch.maxSize or batch.maxBytes';

const problemOf = ({ executionArn, inputDetails }: Record<string, unknown>): string =>
  isLeftOut(inputDetails)
    ? `the input of ${executionArn} is too large to be in its event: ${REPORT_ITSELF}`
    : `${executionArn} has no batchId in its input: Groupage did not start it`;

/**
 * Success for the items of this execution only: a batch may be split over several executions. Null if its input lists
 * no items.
 */
const allDone = (items: unknown): string | null =>
  Array.isArray(items) && items.length > 0 ? forEach(items, { status: 'succeeded' }) : null;

/** The output reports a failure in another protocol. The call may have had its effects, so its attempt counts. */
const unread = (failure: string): ItemReport => ({
  status: 'retry',
  error: {
    code: 'unread',
    message: `its execution succeeded with ${failure}, which Groupage does not read: ${HINT}`,
    retriable: true,
  },
});

interface ItemReport {
  readonly status: 'succeeded' | 'retry' | 'failed';
  readonly error?: { readonly code: string; readonly message: string; readonly retriable: boolean };
}

const LEFT_OUT = 'results-left-out';

/** A failure, not a retry: the output of another execution would be just as large. */
const OUTPUT_LEFT_OUT: ItemReport = {
  status: 'failed',
  error: {
    code: LEFT_OUT,
    message: `its execution succeeded, but its output is too large to be in the event: ${REPORT_ITSELF}`,
    retriable: true,
  },
};

/** The error of an execution in which a state returned more than 256 KiB. The state may have done its work. */
export const DATA_LIMIT = 'States.DataLimitExceeded';

const failedExecution = ({ status, error, cause }: Record<string, unknown>): ItemReport => {
  const said = [error, cause].filter((each) => typeof each === 'string' && each !== '').join(': ');
  const how = `its execution ended ${String(status)}`;
  // Do not retry: another execution would repeat the work and fail in the same way.
  if (error === DATA_LIMIT)
    return {
      status: 'failed',
      error: {
        code: LEFT_OUT,
        message: `${how}: ${said}. A state may return 256 KiB: ${REPORT_ITSELF}`,
        retriable: true,
      },
    };
  return {
    status: 'retry',
    error: { code: String(status), message: said === '' ? how : `${how}: ${said}`, retriable: true },
  };
};

/** A list that reports the same result for each item of the call. */
const forEach = (items: unknown, report: ItemReport): string =>
  JSON.stringify(
    (Array.isArray(items) ? items : []).flatMap((item) =>
      isObject(item) && typeof item.id === 'string' ? [{ id: item.id, ...report }] : [],
    ),
  );
