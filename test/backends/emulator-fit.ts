/**
 * Adapts a deployed stack to the emulator. AWS does not need this.
 *
 * ministack enforces IAM by the names of the requests. But AWS has no action `sqs:SendMessageBatch` (it is
 * `sqs:SendMessage`) and no `dynamodb:BatchExecuteStatement` (it is `dynamodb:PartiQLInsert` and the like). So each
 * role that may do an action by AWS's name gets the emulator's name for the same resources. For PartiQL it gets all
 * resources, since the emulator checks no table there. test/permissions checks the AWS names and the tables.
 *
 * ministack reports the account as the sender of every message. So the account counts as a role of the functions.
 *
 * The concurrency is limited too: each concurrent invocation is a Node.js process on this machine, and a hundred of
 * them would only start.
 */
import {
  GetRolePolicyCommand,
  IAMClient,
  PutRolePolicyCommand,
  paginateListRolePolicies,
  paginateListRoles,
} from '@aws-sdk/client-iam';
import {
  LambdaClient,
  paginateListEventSourceMappings,
  paginateListFunctions,
  UpdateEventSourceMappingCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import { ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { type Cloud, enter } from './cloud.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

const POLICY = 'names-of-the-emulator';

/** The statements that the emulator needs in addition. */
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

/** The most concurrent invocations of a function. */
const AT_ONCE = 3;

/** Adapts every stack in the emulator. Can be repeated. */
export const fitToEmulator = async (cloud: Cloud): Promise<void> => {
  enter(cloud);
  await namePermissions(new IAMClient());
  await holdBack(new LambdaClient());
  await trustAccount(new LambdaClient());
};

/** The account of ministack. */
const ACCOUNT = '000000000000';

const trustAccount = async (client: LambdaClient): Promise<void> => {
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    for (const { FunctionName, Environment: { Variables } = {} } of Functions) {
      if (Variables?.[ENVIRONMENT.ownRoles] === undefined || Variables[ENVIRONMENT.ownRoles] === ACCOUNT) continue;
      const Environment = { Variables: { ...Variables, [ENVIRONMENT.ownRoles]: ACCOUNT } };
      await client.send(new UpdateFunctionConfigurationCommand({ FunctionName, Environment }));
    }
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
