/**
 * The Step Functions kind of downstream: each batch starts an execution, which reports when it is done.
 *
 * Executions of the same items have numbered names. For a name that was used with the same input, Step Functions answers
 * as if it had just started it while that execution runs, and refuses once it has ended. So asking for the first name
 * that is not refused finds an execution that still runs, though the function that started it crashed; and what ended
 * without a report is done again.
 */
import { ExecutionAlreadyExists, SFNClient, type SFNClientConfig, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { executionPrefix, type StateMachineTarget, serviceName } from '../domain/config/endpoints.ts';
import { answerOfFailure } from '../domain/downstream/aws-failure.ts';
import {
  type Answer,
  type Call,
  type Downstream,
  idempotencyKey,
  printEvent,
} from '../domain/downstream/downstream.ts';
import { digest } from '../domain/ids.ts';
import { AWS_TRY } from '../domain/timings.ts';

/** To start twice starts once: it may be tried again at once. */
export const stepFunctionsClient = (options: SFNClientConfig): SFNClient =>
  new SFNClient({
    ...options,
    maxAttempts: 3,
    requestHandler: { connectionTimeout: AWS_TRY / 2, requestTimeout: AWS_TRY, throwOnRequestTimeout: true },
  });

/** @param machine the ARN of the state machine. @param tag see {@link executionPrefix}. */
export const stepFunctionsDownstream = (
  target: StateMachineTarget,
  machine: string,
  client: SFNClient,
  tag = '',
): Downstream => ({
  async call(call: Call): Promise<Answer> {
    const { timeout } = target;
    const signal = AbortSignal.timeout(timeout);
    try {
      await startFirstFree(client, machine, call, tag, signal);
      return { kind: 'pending' };
    } catch (cause) {
      return answerOfFailure({ cause, what: `the ${serviceName(target)}`, timeout, signal });
    }
  },
});

/** No attempt starts more than one: there were no more than this one's number. */
const startFirstFree = async (
  client: SFNClient,
  machine: string,
  call: Call,
  tag: string,
  signal: AbortSignal,
): Promise<void> => {
  for (let attempt = 1; attempt <= call.attempt; attempt += 1) {
    const start = new StartExecutionCommand({
      stateMachineArn: machine,
      name: executionName(call, attempt, tag),
      // Nothing in it may differ when it is asked for again.
      input: printEvent({ ...call, attempt }),
    });
    try {
      await client.send(start, { abortSignal: signal });
      return;
    } catch (cause) {
      if (!(cause instanceof ExecutionAlreadyExists)) throw cause;
      // The last one has ended as well, since we asked for it: its report is on its way.
    }
  }
};

/** At most 80 of letters, digits, `-` and `_`: 80 is what Step Functions takes. */
const executionName = (call: Call, attempt: number, tag: string): string =>
  `${executionPrefix(call.operation, tag)}${digest(idempotencyKey(call))}-${attempt}`;
