/** Why an operation on a stack failed: the first causes among its events. */
import { reasonOf } from '../../src/util/problems.ts';
import { type Account, eventsSince, validationErrorsSince } from '../account/stacks.ts';

/** As far as this machine's clock may be wrong: AWS refuses requests of one that is further off. */
const CLOCK_SKEW = 300_000;

/** Never fails: what failed must be cleaned up all the same. @param id the stack's ARN. @param from when the operation was started, by this machine's clock. */
export const causesIn = async (account: Account, id: string, from: number): Promise<string[]> => {
  try {
    const invalid = invalidOf(await validationErrorsSince(account, id, from - CLOCK_SKEW));
    return invalid.length > 0 ? invalid : causesOf(await eventsSince(account, id, from - CLOCK_SKEW));
  } catch (cause) {
    return [`why could not be read (${reasonOf(cause)})`];
  }
};

/** What is read of CloudFormation's events. */
export interface Happened {
  readonly LogicalResourceId?: string | undefined;
  readonly PhysicalResourceId?: string | undefined;
  readonly ResourceType?: string | undefined;
  readonly ResourceStatus?: string | undefined;
  readonly ResourceStatusReason?: string | undefined;
  readonly StackId?: string | undefined;
}

/** Ends what came before: another operation, which may have failed for other reasons. */
const STARTS = ['CREATE_IN_PROGRESS', 'UPDATE_IN_PROGRESS', 'REVIEW_IN_PROGRESS'];

/** Resources that were stopped since another one failed. */
const FOLLOWS = /\b(creation|update|deletion|operation) cancelled/i;

/** More than these say the same. */
const SHOWN = 3;

/** The causes, in the order in which they happened, a line each. @param events the oldest first. */
export const causesOf = (events: readonly Happened[]): string[] => {
  const start = events.findLastIndex((event) => isOfStack(event) && STARTS.includes(event.ResourceStatus ?? ''));
  const failed = events
    .slice(Math.max(0, start))
    .filter(
      ({ ResourceStatus, ResourceStatusReason = '' }) =>
        ResourceStatus?.endsWith('_FAILED') && !FOLLOWS.test(ResourceStatusReason),
    );
  // What fails while it is taken back comes after the cause, and belongs to the second question.
  const making = failed.filter(
    ({ ResourceStatus }) => !/^(DELETE|ROLLBACK|UPDATE_ROLLBACK)_/.test(ResourceStatus ?? ''),
  );
  const own = making.filter((event) => !isOfStack(event));
  return (
    [own, making, failed]
      .find((some) => some.length > 0)
      ?.slice(0, SHOWN)
      .map(lineOf) ?? []
  );
};

/** What CloudFormation found wrong with a template. */
export interface Invalid {
  readonly LogicalResourceId?: string | undefined;
  readonly ResourceType?: string | undefined;
  readonly ValidationPath?: string | undefined;
  readonly ValidationStatusReason?: string | undefined;
}

/** A line for each. */
export const invalidOf = (errors: readonly Invalid[]): string[] =>
  errors
    .slice(0, SHOWN)
    .map(({ LogicalResourceId, ResourceType, ValidationPath = '', ValidationStatusReason = 'it is not valid' }) =>
      lineOf({
        LogicalResourceId,
        ResourceType,
        ResourceStatusReason: `${ValidationPath} ${ValidationStatusReason}`.trim(),
      }),
    );

const isOfStack = ({ PhysicalResourceId, StackId }: Happened): boolean => PhysicalResourceId === StackId;

const lineOf = ({ LogicalResourceId = '', ResourceType = '', ResourceStatusReason = 'no reason given' }: Happened) =>
  `${LogicalResourceId} (${ResourceType}): ${ResourceStatusReason}`;
