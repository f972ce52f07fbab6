/** The CloudFormation stacks of an account and region, as they are found. */
import {
  CloudFormationClient,
  DescribeStacksCommand,
  type OperationEvent,
  paginateDescribeEvents,
  paginateDescribeStackEvents,
  paginateDescribeStacks,
  paginateListChangeSets,
  type Stack,
  type StackEvent,
} from '@aws-sdk/client-cloudformation';
import type { Environment } from '../../src/domain/deployed/environment.ts';
import { inWords } from './failures.ts';
import { regionOf } from './region.ts';

export interface FoundStack {
  readonly name: string;
  readonly id: string;
  readonly status: string;
  /** Empty, where it has none. */
  readonly description: string;
  /** The ARN of the change set that was carried out last; emulators leave it out. */
  readonly changeSetId?: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly outputs: Readonly<Record<string, string>>;
}

/** An account and region, through the credentials of the environment. */
export interface Account {
  readonly region: string;
  readonly cloudFormation: CloudFormationClient;
}

/** @throws CommandFailure without a region, or with a profile that does not exist. */
export const openAccount = async (environment: Environment): Promise<Account> => {
  const region = await regionOf(environment, new CloudFormationClient({}).config.region);
  return { region, cloudFormation: new CloudFormationClient({ region }) };
};

/** A stack by its name. @throws CommandFailure */
export const findStack = ({ region, cloudFormation }: Account, name: string): Promise<FoundStack | undefined> =>
  inWords(`look at the stack ${name}`, region, async () => {
    try {
      const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName: name }));
      // Without a name it would answer with all.
      const stack = Stacks.find(({ StackName, StackId }) => StackName === name || StackId === name);
      return stack && found(stack);
    } catch (cause) {
      // CloudFormation has no name of its own for this.
      if (cause instanceof Error && /does not exist/.test(cause.message)) return undefined;
      throw cause;
    }
  });

/** All stacks. @throws CommandFailure */
export const listStacks = ({ region, cloudFormation }: Account): Promise<FoundStack[]> =>
  inWords('list the stacks', region, async () => {
    const all: FoundStack[] = [];
    for await (const { Stacks = [] } of paginateDescribeStacks({ client: cloudFormation }, {}))
      all.push(...Stacks.map(found));
    return all;
  });

/** The names of a stack's change sets, as far as CloudFormation still has them. @throws CommandFailure */
export const changeSetsOf = ({ region, cloudFormation }: Account, name: string): Promise<string[]> =>
  inWords(`list the change sets of the stack ${name}`, region, async () => {
    const names: string[] = [];
    for await (const { Summaries = [] } of paginateListChangeSets({ client: cloudFormation }, { StackName: name }))
      names.push(...Summaries.flatMap(({ ChangeSetName }) => ChangeSetName ?? []));
    return names;
  });

/** What happened to a stack since a time, the oldest first. @param id its ARN: it is found under it when it is gone. */
export const eventsSince = ({ region, cloudFormation }: Account, id: string, since: number): Promise<StackEvent[]> =>
  inWords('read what happened to the stack', region, async () => {
    const events: StackEvent[] = [];
    for await (const { StackEvents = [] } of paginateDescribeStackEvents(
      { client: cloudFormation },
      { StackName: id },
    )) {
      const recent = StackEvents.filter(({ Timestamp }) => (Timestamp?.getTime() ?? 0) >= since);
      events.push(...recent);
      // They come newest first.
      if (recent.length < StackEvents.length) break;
    }
    return events.reverse();
  });

/** What was wrong with a stack's template before anything was made: CloudFormation keeps that apart from the events. */
export const validationErrorsSince = (
  { region, cloudFormation }: Account,
  id: string,
  since: number,
): Promise<OperationEvent[]> =>
  inWords('read what was wrong with the template', region, async () => {
    const errors: OperationEvent[] = [];
    const query = { StackName: id, Filters: { FailedEvents: true } };
    for await (const { OperationEvents = [] } of paginateDescribeEvents({ client: cloudFormation }, query))
      errors.push(
        ...OperationEvents.filter(
          ({ EventType, Timestamp }) => EventType === 'VALIDATION_ERROR' && (Timestamp?.getTime() ?? 0) >= since,
        ),
      );
    return errors;
  });

const found = (stack: Stack): FoundStack => ({
  name: stack.StackName ?? '',
  id: stack.StackId ?? '',
  status: stack.StackStatus ?? '',
  description: stack.Description ?? '',
  ...(stack.ChangeSetId ? { changeSetId: stack.ChangeSetId } : {}),
  tags: Object.fromEntries((stack.Tags ?? []).map(({ Key = '', Value = '' }) => [Key, Value])),
  outputs: Object.fromEntries(
    (stack.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
  ),
});
