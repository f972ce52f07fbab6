/** Reads the CloudFormation stacks of an account and region. */
import {
  CloudFormationClient,
  DescribeStacksCommand,
  type OperationEvent,
  paginateDescribeEvents,
  paginateDescribeStackEvents,
  paginateDescribeStacks,
  paginateListChangeSets,
  paginateListStackResources,
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
  /** Empty if the stack has no description. */
  readonly description: string;
  /** ARN of the change set that was executed last. Emulators omit it. */
  readonly changeSetId?: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly outputs: Readonly<Record<string, string>>;
}

/** An account and region, accessed with the credentials of the environment. */
export interface Account {
  readonly region: string;
  readonly cloudFormation: CloudFormationClient;
}

/** @throws CommandFailure without a region, or if the profile does not exist. */
export const openAccount = async (environment: Environment): Promise<Account> => {
  const region = await regionOf(environment, new CloudFormationClient({}).config.region);
  return { region, cloudFormation: new CloudFormationClient({ region }) };
};

/** A stack by its name. @throws CommandFailure */
export const findStack = ({ region, cloudFormation }: Account, name: string): Promise<FoundStack | undefined> =>
  inWords(`read the stack ${name}`, region, async () => {
    try {
      const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName: name }));
      // For an empty name, CloudFormation returns all stacks.
      const stack = Stacks.find(({ StackName, StackId }) => StackName === name || StackId === name);
      return stack && found(stack);
    } catch (cause) {
      // CloudFormation has no separate error code for a stack that does not exist.
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

/** Names of a stack's change sets that CloudFormation still stores. @throws CommandFailure */
export const changeSetsOf = ({ region, cloudFormation }: Account, name: string): Promise<string[]> =>
  inWords(`list the change sets of the stack ${name}`, region, async () => {
    const names: string[] = [];
    for await (const { Summaries = [] } of paginateListChangeSets({ client: cloudFormation }, { StackName: name }))
      names.push(...Summaries.flatMap(({ ChangeSetName }) => ChangeSetName ?? []));
    return names;
  });

/** Events of a stack after a given time, oldest first. @param id ARN of the stack, which is valid even after its deletion. */
export const eventsSince = ({ region, cloudFormation }: Account, id: string, since: number): Promise<StackEvent[]> =>
  inWords('read the events of the stack', region, async () => {
    const events: StackEvent[] = [];
    for await (const { StackEvents = [] } of paginateDescribeStackEvents(
      { client: cloudFormation },
      { StackName: id },
    )) {
      const recent = StackEvents.filter(({ Timestamp }) => (Timestamp?.getTime() ?? 0) >= since);
      events.push(...recent);
      // CloudFormation returns the newest events first.
      if (recent.length < StackEvents.length) break;
    }
    return events.reverse();
  });

/**
 * Validation errors of a stack's template, which is checked before any resource is created. CloudFormation lists these
 * errors separately from the events.
 */
export const validationErrorsSince = (
  { region, cloudFormation }: Account,
  id: string,
  since: number,
): Promise<OperationEvent[]> =>
  inWords('read the validation errors of the template', region, async () => {
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

/** A resource of a stack. */
export interface StackResource {
  /** As in CloudFormation, e.g. `AWS::IAM::Role`. */
  readonly type: string;
  /** Its id in the template. */
  readonly logicalId: string;
  /** Its name in the cloud; of a queue its URL. */
  readonly name: string;
}

/** The resources of a stack. @throws CommandFailure */
export const resourcesOf = ({ region, cloudFormation }: Account, name: string): Promise<StackResource[]> =>
  inWords(`list the resources of the stack ${name}`, region, async () => {
    const resources: StackResource[] = [];
    for await (const { StackResourceSummaries = [] } of paginateListStackResources(
      { client: cloudFormation },
      { StackName: name },
    ))
      for (const { ResourceType = '', LogicalResourceId = '', PhysicalResourceId = '' } of StackResourceSummaries)
        resources.push({ type: ResourceType, logicalId: LogicalResourceId, name: PhysicalResourceId });
    return resources;
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
