/** The CloudFormation stacks of an account and region, as they are found. */
import {
  CloudFormationClient,
  DescribeStacksCommand,
  type OperationEvent,
  paginateDescribeEvents,
  paginateDescribeStackEvents,
  paginateDescribeStacks,
  type Stack,
  type StackEvent,
} from '@aws-sdk/client-cloudformation';
import type { Environment } from '../environment.ts';
import { inWords } from './failures.ts';
import { regionOf } from './region.ts';

export interface FoundStack {
  readonly name: string;
  readonly id: string;
  readonly status: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly outputs: Readonly<Record<string, string>>;
}

/** An account and region, through the credentials of the environment. */
export interface Account {
  readonly region: string;
  readonly cloudFormation: CloudFormationClient;
}

/** @throws CommandFailure without a region. */
export const openAccount = async (environment: Environment): Promise<Account> => {
  const region = await regionOf(environment, new CloudFormationClient({}).config.region);
  return { region, cloudFormation: new CloudFormationClient({ region }) };
};

/** A stack by its name. @throws CommandFailure */
export const findStack = ({ region, cloudFormation }: Account, name: string): Promise<FoundStack | undefined> =>
  inWords(`look at the stack ${name}`, region, async () => {
    try {
      const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName: name }));
      return Stacks[0] && found(Stacks[0]);
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

const found = ({ StackName = '', StackId = '', StackStatus, Tags = [], Outputs = [] }: Stack): FoundStack => ({
  name: StackName,
  id: StackId,
  status: StackStatus ?? '',
  tags: Object.fromEntries(Tags.map(({ Key = '', Value = '' }) => [Key, Value])),
  outputs: Object.fromEntries(Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue])),
});
