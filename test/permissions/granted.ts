/** What the synthesised template lets each function do, under the names that the local stack uses too. */
import { type CloudAssembly, type Found, nameInArn } from '../../tools/local/template.ts';
import type { Grant } from './compare.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

interface PolicyProperties {
  readonly Roles: readonly string[];
  readonly PolicyDocument: { readonly Statement: readonly Statement[] };
}

const propertiesOf = ({ properties }: Found): PolicyProperties => properties as unknown as PolicyProperties;

/** Every action on every resource, function by function. */
export const grantsOf = (assembly: CloudAssembly): Grant[] => {
  const policies = assembly.all('AWS::IAM::Policy').map(propertiesOf);
  return assembly.all('AWS::Lambda::Function').flatMap(({ name: functionName, properties }) => {
    const role = nameInArn(properties.Role);
    return policies
      .filter(({ Roles }) => Roles.includes(role))
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .filter(({ Effect }) => Effect === 'Allow')
      .flatMap(({ Action, Resource }) =>
        [Action]
          .flat()
          .flatMap((action) =>
            [Resource].flat().map((arn): Grant => ({ functionName, action, resource: nameInArn(arn) })),
          ),
      );
  });
};

/** What an event source does with its queue in the function's name, as AWS's own policy for it says. */
const POLLING = new Set(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']);
const LOGGING = new Set(['logs:CreateLogStream', 'logs:PutLogEvents']);

/** Tells the grants that Lambda itself uses: polling a function's own queue, and writing into its own log group. */
export const usedByLambda = (assembly: CloudAssembly): ((grant: Grant) => boolean) => {
  const polled = new Set(
    assembly
      .all('AWS::Lambda::EventSourceMapping')
      .map(({ properties }) => `${properties.FunctionName} ${nameInArn(properties.EventSourceArn)}`),
  );
  const logged = new Set(
    assembly.all('AWS::Lambda::Function').map(({ name, properties }) => {
      const { LogGroup } = properties.LoggingConfig as { LogGroup: string };
      return `${name} ${LogGroup}`;
    }),
  );
  return ({ functionName, action, resource }) =>
    (POLLING.has(action) && polled.has(`${functionName} ${resource}`)) ||
    (LOGGING.has(action) && logged.has(`${functionName} ${resource}`));
};
