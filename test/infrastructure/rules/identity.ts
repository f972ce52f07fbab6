/** Properties that must stay the same in every deployment, since a change makes CloudFormation replace the resource. */
import { at, ofType, type Rule } from './template.ts';

/** By type, the properties whose change replaces a resource by a new, empty one. */
const REPLACING: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::Table': [
    'TableName',
    'KeySchema',
    'AttributeDefinitions',
    'LocalSecondaryIndexes',
    // A change replaces the index, not the table. CloudFormation allows one such change in a deployment.
    'GlobalSecondaryIndexes',
    'ImportSourceSpecification',
  ],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::Lambda::Url': ['TargetFunctionArn', 'Qualifier'],
};

/** The identity of a resource that holds data: those of its replacing properties that are set. */
type Identity = Readonly<Record<string, unknown>>;

/** Tables and queues hold data, log groups a month of logs; callers have the URL of the API. */
const identitiesOf = (template: Parameters<Rule>[0]): Record<string, Identity> =>
  Object.fromEntries(
    Object.entries(REPLACING).flatMap(([type, paths]) =>
      ofType(template, type).map(([id, properties]) => [
        id,
        Object.fromEntries(
          paths.flatMap((path) => {
            const value = at(properties, path);
            return value === undefined ? [] : [[path, value]];
          }),
        ),
      ]),
    ),
  );

/** No pinned resource may be missing or replaced. A new resource has to be pinned. */
export const identitiesArePinned =
  (pinned: Readonly<Record<string, Identity>>): Rule =>
  (template) => {
    const found = identitiesOf(template);
    return [
      ...Object.keys(pinned).flatMap((id) => (id in found ? [] : [`${id}: is missing, and its data would be lost`])),
      ...Object.entries(found).flatMap(([id, identity]) => {
        const before = pinned[id];
        if (!before) return [`${id}: is new; pin it`];
        return JSON.stringify(before) === JSON.stringify(identity)
          ? []
          : [`${id}: would be replaced: ${JSON.stringify(before)} becomes ${JSON.stringify(identity)}`];
      }),
    ];
  };
