/**
 * The Step Functions downstream: each batch starts an execution, and an event reports the end of the execution.
 *
 * Executions of the same items have numbered names. If the handler starts an execution again with the same name and
 * input, the answer of Step Functions depends on the execution. While the execution runs, Step Functions answers as if
 * it had just started. After the execution has ended, Step Functions refuses the start. The handler therefore tries the
 * names in order until Step Functions accepts a start. This finds an execution that still runs, although the function
 * that started it crashed. Items of an execution that ended without a report are processed again.
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

/** The client may repeat a start at once, because a repeated start has no further effect. */
export const stepFunctionsClient = (options: SFNClientConfig): SFNClient =>
  new SFNClient({
    ...options,
    maxAttempts: 3,
    requestHandler: { connectionTimeout: AWS_TRY / 2, requestTimeout: AWS_TRY, throwOnRequestTimeout: true },
  });

/**
 * @param machine ARN of the state machine
 * @param tag see {@link executionPrefix}
 */
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

/**
 * Starts an execution with the first name that Step Functions does not refuse: no execution has the name, or its
 * execution still runs. Each attempt starts at most one execution, so there are at most as many names as attempts.
 */
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
      // The input must be the same for each start of this name: otherwise Step Functions refuses a start while the
      // execution runs.
      input: printEvent({ ...call, attempt }),
    });
    try {
      await client.send(start, { abortSignal: signal });
      return;
    } catch (cause) {
      if (!(cause instanceof ExecutionAlreadyExists)) throw cause;
      // The execution of this name has ended too, and its report is on the way: try the next name.
    }
  }
};

/** The name of an execution, of letters, digits, `-` and `_`. Step Functions allows at most 80 characters. */
const executionName = (call: Call, attempt: number, tag: string): string =>
  `${executionPrefix(call.operation, tag)}${digest(idempotencyKey(call))}-${attempt}`;
