/**
 * What a deployed stack needs to run on the emulator, which it does not in AWS.
 *
 * ministack enforces IAM by the names of the requests; AWS has no `sqs:SendMessageBatch` (it is `sqs:SendMessage`) and no
 * `dynamodb:BatchExecuteStatement` (it is `dynamodb:PartiQLInsert` and the like). So each role that may do the one by
 * AWS's name gets the emulator's name, for the same resources; but for PartiQL, where the emulator looks for no table. The
 * names that AWS has, and the tables, are proved by test/permissions.
 *
 * And each invocation at once is a process of Node.js on this machine: a hundred of them would do nothing but start.
 */
import {
  GetRolePolicyCommand,
  IAMClient,
  PutRolePolicyCommand,
  paginateListRolePolicies,
  paginateListRoles,
} from '@aws-sdk/client-iam';
import { LambdaClient, paginateListEventSourceMappings, UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import { type Cloud, enter } from './cloud.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

const POLICY = 'names-of-the-emulator';

/** The statements that an emulator wants beside these. */
export const emulatorStatements = (statements: readonly Statement[]): Statement[] =>
  statements.flatMap(({ Effect, Action, Resource }) => {
    const actions = [Action].flat();
    return [
      ...(actions.includes('sqs:SendMessage') ? [{ Effect, Action: 'sqs:SendMessageBatch', Resource }] : []),
      ...(actions.includes('sqs:DeleteMessage') ? [{ Effect, Action: 'sqs:DeleteMessageBatch', Resource }] : []),
      ...(actions.some((action) => action.startsWith('dynamodb:PartiQL'))
        ? [{ Effect, Action: 'dynamodb:BatchExecuteStatement', Resource: '*' }]
        : []),
    ];
  });

/** Invocations of a function at once, at the most. */
const AT_ONCE = 3;

/** Fits every stack that is deployed there. Again after an update is harmless. */
export const fitToEmulator = async (cloud: Cloud): Promise<void> => {
  enter(cloud);
  await namePermissions(new IAMClient());
  await holdBack(new LambdaClient());
};

const holdBack = async (client: LambdaClient): Promise<void> => {
  for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings({ client }, {}))
    for (const { UUID } of EventSourceMappings)
      await client.send(new UpdateEventSourceMappingCommand({ UUID, ScalingConfig: { MaximumConcurrency: AT_ONCE } }));
};

const namePermissions = async (client: IAMClient): Promise<void> => {
  for await (const { Roles = [] } of paginateListRoles({ client }, {}))
    for (const { RoleName } of Roles.filter(({ RoleName = '' }) => !RoleName.startsWith('cdk-'))) {
      const extra: Statement[] = [];
      for await (const { PolicyNames = [] } of paginateListRolePolicies({ client }, { RoleName }))
        for (const PolicyName of PolicyNames.filter((name) => name !== POLICY)) {
          const { PolicyDocument = '' } = await client.send(new GetRolePolicyCommand({ RoleName, PolicyName }));
          extra.push(
            ...emulatorStatements(
              (JSON.parse(decodeURIComponent(PolicyDocument)) as { Statement: Statement[] }).Statement,
            ),
          );
        }
      if (extra.length > 0)
        await client.send(
          new PutRolePolicyCommand({
            RoleName,
            PolicyName: POLICY,
            PolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: extra }),
          }),
        );
    }
};
