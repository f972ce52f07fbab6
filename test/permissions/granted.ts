/** The rights of each function in the synthesised template, under the names of the local stack. */
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

/** Every action on every resource, by function. */
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

/** An event source's actions on its queue in the function's name, as in AWS's own policy for it. */
const POLLING = new Set(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']);
const LOGGING = new Set(['logs:CreateLogStream', 'logs:PutLogEvents']);

/** Whether Lambda itself uses a grant: to poll a function's own queue, or to write into its log group. */
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
