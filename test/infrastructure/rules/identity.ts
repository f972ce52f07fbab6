/** What must stay the same from deployment to deployment, since CloudFormation replaces what changes it. */
import { at, ofType, type Rule } from './template.ts';

/** The properties of each type whose change makes a new resource, empty, in place of the old one. */
const REPLACING: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::Table': [
    'TableName',
    'KeySchema',
    'AttributeDefinitions',
    'LocalSecondaryIndexes',
    // Not the table, but the index would be made anew, and refused meanwhile: one of them in a deployment.
    'GlobalSecondaryIndexes',
    'ImportSourceSpecification',
  ],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::Lambda::Url': ['TargetFunctionArn', 'Qualifier'],
};

/** A resource that holds something: its type, and those of its replacing properties that are set. */
type Identity = Readonly<Record<string, unknown>>;

/** Tables and queues with what is in them, a month of logs, the address that the API's callers know. */
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

/** Nothing that was there is gone or would be replaced; something new may come, once it is pinned too. */
export const identitiesArePinned =
  (pinned: Readonly<Record<string, Identity>>): Rule =>
  (template) => {
    const found = identitiesOf(template);
    return [
      ...Object.keys(pinned).flatMap((id) => (id in found ? [] : [`${id}: is gone, with what was in it`])),
      ...Object.entries(found).flatMap(([id, identity]) => {
        const before = pinned[id];
        if (!before) return [`${id}: is new; pin it`];
        return JSON.stringify(before) === JSON.stringify(identity)
          ? []
          : [`${id}: would be another: ${JSON.stringify(before)} becomes ${JSON.stringify(identity)}`];
      }),
    ];
  };
