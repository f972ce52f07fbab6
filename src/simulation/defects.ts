/** A step may fail for a fault, or to let its message come back. Whatever else it throws is a finding. */
import { NotSealed } from '../batching/handle-batch.ts';
import { OutOfTime } from '../batching/turns.ts';
import { InjectedFault } from './faults.ts';
import { Violation } from './violation.ts';

/** What steps are meant to fail with. */
const MEANT = [InjectedFault, OutOfTime, NotSealed];

/** What an error is made of: the sweep's are of the patrol's, which are of its Targets'. */
const causesOf = (cause: unknown): readonly unknown[] =>
  cause instanceof AggregateError ? cause.errors.flatMap(causesOf) : [cause];

const isMeant = (cause: unknown): boolean => MEANT.some((each) => cause instanceof each);

/** What a step failed with, if it was not meant to. @param who failed */
export const defectOf = (who: string, cause: unknown): Violation | undefined => {
  const causes = causesOf(cause);
  if (causes.length > 0 && causes.every(isMeant)) return undefined;
  const defect = causes.find((each) => !isMeant(each)) ?? cause;
  const at = defect instanceof Error ? defect.stack?.split('\n', 2)[1]?.trim() : undefined;
  return brokenBy({ who, cause: String(defect), at });
};

/** The same for a cause that a step caught and only told of. */
export const defectToldIn = (who: string, event: object): Violation | undefined => {
  if (!('cause' in event) || MEANT.some(({ name }) => String(event.cause).startsWith(`${name}: `))) return undefined;
  return brokenBy({ who, ...event });
};

const brokenBy = (subject: object): Violation => new Violation('a step fails only for a fault', subject);
