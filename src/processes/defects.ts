/**
 * Distinguishes defects from expected failures. A step may fail because of an injected fault, or so that its message is
 * delivered again. Any other error is a violation.
 */

import { UnknownOperation } from '../domain/config/resolved.ts';
import { TimeIsUp } from '../ports/machine.ts';
import { NotSealed } from '../steps/call/handle-batch.ts';
import { OutOfTime } from '../steps/contention.ts';
import { InjectedFault } from '../virtual/faults.ts';
import { Violation } from '../virtual/violation.ts';

/** Errors with which a step may fail. */
const EXPECTED = [InjectedFault, OutOfTime, TimeIsUp, NotSealed];

const NONE: ReadonlySet<string> = new Set();

/**
 * The errors inside an AggregateError, at any depth: the sweep's error contains the patrol's errors, which contain the
 * errors of single Targets.
 */
const causesOf = (cause: unknown): readonly unknown[] =>
  cause instanceof AggregateError ? cause.errors.flatMap(causesOf) : [cause];

/**
 * @param removed operations that the schedule has removed from the configuration for a while. Their tasks wait until
 *   they are configured again.
 */
const isExpected = (cause: unknown, removed: ReadonlySet<string>): boolean =>
  EXPECTED.some((each) => cause instanceof each) || (cause instanceof UnknownOperation && removed.has(cause.operation));

/**
 * The violation, if a step failed with an unexpected error. Undefined if the error was expected. @param who the process
 * that failed.
 */
export const defectOf = (who: string, cause: unknown, removed: ReadonlySet<string> = NONE): Violation | undefined => {
  const causes = causesOf(cause);
  if (causes.length > 0 && causes.every((each) => isExpected(each, removed))) return undefined;
  const defect = causes.find((each) => !isExpected(each, removed)) ?? cause;
  const at = defect instanceof Error ? defect.stack?.split('\n', 2)[1]?.trim() : undefined;
  return brokenBy({ who, cause: String(defect), at });
};

/** The violation, if a step caught an unexpected error and only reported it. */
export const defectReportedIn = (
  who: string,
  event: object,
  removed: ReadonlySet<string> = NONE,
): Violation | undefined => {
  if (!('cause' in event)) return undefined;
  const cause = String(event.cause);
  if (EXPECTED.some(({ name }) => cause.startsWith(`${name}: `))) return undefined;
  if ([...removed].some((operation) => cause === String(new UnknownOperation(operation)))) return undefined;
  return brokenBy({ who, ...event });
};

const brokenBy = (subject: object): Violation =>
  new Violation('a step fails only because of an injected fault', subject);
