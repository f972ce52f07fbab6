/** The configuration as the handlers read it: checked, every default filled in, every duration in milliseconds. */

import type { Millis, OperationName } from '../batching/ids.ts';
import type { BatchPolicy } from '../batching/policy.ts';
import type { Grouping } from '../batching/target.ts';
import { HANDLER_OVERHEAD } from '../batching/timings.ts';
import type { RetryPolicy } from '../downstream/retry.ts';

/** A batch API behind one URL. */
export interface HttpTarget {
  readonly kind: 'http';
  readonly url: string;
  /** How long one call may take. */
  readonly timeout: Millis;
}

export interface Operation extends Grouping {
  readonly batch: BatchPolicy;
  readonly downstream: HttpTarget;
  readonly retry: RetryPolicy;
  /** How long finished tasks and batches can be looked up. */
  readonly keepTasks: Millis;
}

export interface Config {
  readonly version: 1;
  readonly operations: Readonly<Record<OperationName, Operation>>;
}

/** The operation of a name, own properties only. */
export const operationNamed = (config: Config, name: string): Operation | undefined =>
  Object.hasOwn(config.operations, name) ? config.operations[name as OperationName] : undefined;

/** A Target or batch, mostly a stored one, whose operation is not configured. */
export class UnknownOperation extends Error {
  override readonly name = 'UnknownOperation';
  readonly operation: string;
  constructor(operation: string) {
    super(
      `operation "${operation}" is not in the configuration: if tasks of it are stored, put it back until they are done, then remove it`,
    );
    this.operation = operation;
  }
}

/** The operation that stored rows belong to. @throws UnknownOperation */
export const operationFor = (config: Config, name: OperationName): Operation => {
  const operation = operationNamed(config, name);
  if (!operation) throw new UnknownOperation(name);
  return operation;
};

/** How long what an operation finished is kept. @throws UnknownOperation */
export const keepTasksIn =
  (config: Config) =>
  (name: OperationName): Millis =>
    operationFor(config, name).keepTasks;

/** How long one attempt at an operation's batch may take: each of its calls, and what is around them. Whole seconds. */
export const attemptTime = (timeout: Millis, immediate: number): Millis =>
  Math.ceil((timeout * (immediate + 1) + HANDLER_OVERHEAD) / 1_000) * 1_000;

/** The timeout of the λ that calls downstream: the longest attempt of any operation. */
export const handlerTimeout = (config: Config): Millis =>
  Math.max(
    ...Object.values(config.operations).map(({ downstream, retry }) =>
      attemptTime(downstream.timeout, retry.immediate),
    ),
  );

/** After this a batch message that nobody deleted is delivered again: six timeouts, as AWS recommends. */
export const batchVisibility = (config: Config): Millis => 6 * handlerTimeout(config);
