/** Finds why an operation on a stack failed: the first causes among its events. */
import { reasonOf } from '../../src/util/problems.ts';
import { type Account, eventsSince, validationErrorsSince } from '../account/stacks.ts';

/** Maximum error of this machine's clock, in milliseconds: AWS refuses requests if the clock is further off. */
const CLOCK_SKEW = 300_000;

/**
 * Finds the causes of a failure. It never throws, because the clean-up must continue. @param id ARN of the stack.
 * @param from start of the operation, by this machine's clock.
 */
export const causesIn = async (account: Account, id: string, from: number): Promise<string[]> => {
  try {
    const invalid = invalidOf(await validationErrorsSince(account, id, from - CLOCK_SKEW));
    return invalid.length > 0 ? invalid : causesOf(await eventsSince(account, id, from - CLOCK_SKEW));
  } catch (cause) {
    return [`the cause could not be read (${reasonOf(cause)})`];
  }
};

/** Fields of CloudFormation's events that are used. */
export interface Happened {
  readonly LogicalResourceId?: string | undefined;
  readonly PhysicalResourceId?: string | undefined;
  readonly ResourceType?: string | undefined;
  readonly ResourceStatus?: string | undefined;
  readonly ResourceStatusReason?: string | undefined;
  readonly StackId?: string | undefined;
}

/**
 * Statuses of a stack at the start of an operation. Earlier events belong to an earlier operation, which has its own
 * causes.
 */
const STARTS = ['CREATE_IN_PROGRESS', 'UPDATE_IN_PROGRESS', 'REVIEW_IN_PROGRESS'];

/** Reason of resources that were cancelled because another resource failed. */
const FOLLOWS = /\b(creation|update|deletion|operation) cancelled/i;

/** Maximum number of causes that are shown. Further causes seldom add information. */
const SHOWN = 3;

/** The causes in order of time, one line each. @param events oldest first. */
export const causesOf = (events: readonly Happened[]): string[] => {
  const start = events.findLastIndex((event) => isOfStack(event) && STARTS.includes(event.ResourceStatus ?? ''));
  const failed = events
    .slice(Math.max(0, start))
    .filter(
      ({ ResourceStatus, ResourceStatusReason = '' }) =>
        ResourceStatus?.endsWith('_FAILED') && !FOLLOWS.test(ResourceStatusReason),
    );
  // Failures during the rollback come after the cause. Show failures of the rollback only if there is no other failure.
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

/** A validation error of a template. */
export interface Invalid {
  readonly LogicalResourceId?: string | undefined;
  readonly ResourceType?: string | undefined;
  readonly ValidationPath?: string | undefined;
  readonly ValidationStatusReason?: string | undefined;
}

/** One line per error. */
export const invalidOf = (errors: readonly Invalid[]): string[] =>
  errors
    .slice(0, SHOWN)
    .map(({ LogicalResourceId, ResourceType, ValidationPath = '', ValidationStatusReason = 'it is invalid' }) =>
      lineOf({
        LogicalResourceId,
        ResourceType,
        ResourceStatusReason: `${ValidationPath} ${ValidationStatusReason}`.trim(),
      }),
    );

const isOfStack = ({ PhysicalResourceId, StackId }: Happened): boolean => PhysicalResourceId === StackId;

const lineOf = ({ LogicalResourceId = '', ResourceType = '', ResourceStatusReason = 'no reason given' }: Happened) =>
  `${LogicalResourceId} (${ResourceType}): ${ResourceStatusReason}`;
