/** Rules on callers that may invoke a function from outside. */
import { functionsOf } from './flow.ts';
import { differing, idOf, ofType, type Rule, type Template } from './template.ts';

/** Without CORS, no page of another origin can call the API with a user's credentials. */
export const urlsAskForCredentials: Rule = (template) =>
  ofType(template, 'AWS::Lambda::Url').flatMap(([id, properties]) =>
    differing(id, properties, { AuthType: 'AWS_IAM', Cors: undefined }),
  );

export const gatewaysAskForCredentials: Rule = (template) => [
  ...['AWS::ApiGatewayV2::Route', 'AWS::ApiGateway::Method'].flatMap((type) =>
    ofType(template, type).flatMap(([id, properties]) => differing(id, properties, { AuthorizationType: 'AWS_IAM' })),
  ),
  ...ofType(template, 'AWS::ApiGatewayV2::Api').flatMap(([id, properties]) =>
    differing(id, properties, { CorsConfiguration: undefined }),
  ),
];

/**
 * Each permission is for one AWS service, on behalf of a resource of this template. Other accounts' rules cannot
 * invoke.
 */
export const onlyKnownServicesMayInvoke: Rule = (template) =>
  ofType(template, 'AWS::Lambda::Permission').flatMap(([id, properties]) => [
    ...(/^[a-z]+\.amazonaws\.com$/.test(String(properties.Principal))
      ? []
      : [`${id}: lets ${JSON.stringify(properties.Principal)} invoke`]),
    ...(refersTo(template, properties.SourceArn) ? [] : [`${id}: does not say on whose behalf`]),
    ...differing(id, properties, { FunctionUrlAuthType: undefined, Action: 'lambda:InvokeFunction' }),
  ]);

/** Whether a value is a reference to a resource of the template, or contains one. */
const refersTo = (template: Template, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (idOf(value) in template.Resources || Object.values(value).some((each) => refersTo(template, each)));

/** Tables, queues and the stack are set by reference. A literal name becomes stale, or crosses stages. */
export const settingsAreReferences: Rule = (template) =>
  functionsOf(template).flatMap(([id, { Environment }]) =>
    Object.entries((Environment as { Variables?: Record<string, unknown> } | undefined)?.Variables ?? {}).flatMap(
      ([name, value]) =>
        name === 'NODE_OPTIONS' || isReference(template, value) ? [] : [`${id}: ${name} is not a reference`],
    ),
  );

const isReference = (template: Template, value: unknown): boolean =>
  idOf(value) in template.Resources ||
  JSON.stringify(value) === '{"Ref":"AWS::StackName"}' ||
  isPlace(value, 'states', 'stateMachine:') ||
  isPlace(value, 'sns', '');

/** The ARN prefix of a kind of resource in this account and region. */
const isPlace = (value: unknown, service: string, kind: string): boolean => {
  const [partition, region, account] = ['Partition', 'Region', 'AccountId'].map((name) => ({ Ref: `AWS::${name}` }));
  const parts = ['arn:', partition, `:${service}:`, region, ':', account, `:${kind}`];
  return JSON.stringify(value) === JSON.stringify({ 'Fn::Join': ['', parts] });
};
