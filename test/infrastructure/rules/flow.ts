/** The flow of messages and the rights of functions, read from the template, so that new parts are covered. */
import { at, idOf, listOf, ofType, type Template } from './template.ts';

export interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Principal?: unknown;
  readonly Condition?: unknown;
}

export interface Source {
  readonly id: string;
  readonly queue: string;
  readonly fn: string;
  readonly properties: Record<string, unknown>;
}

export const functionsOf = (template: Template) => ofType(template, 'AWS::Lambda::Function');
export const queuesOf = (template: Template) => ofType(template, 'AWS::SQS::Queue');

/** Every event source. */
export const sourcesOf = (template: Template): Source[] =>
  ofType(template, 'AWS::Lambda::EventSourceMapping').map(([id, properties]) => ({
    id,
    queue: idOf(properties.EventSourceArn),
    fn: idOf(properties.FunctionName),
    properties,
  }));

/** Queue → its dead-letter queue. */
export const deadLetterQueuesOf = (template: Template): Map<string, string> =>
  new Map(
    queuesOf(template).flatMap(([id, properties]) =>
      properties.RedrivePolicy ? [[id, idOf(at(properties, 'RedrivePolicy.deadLetterTargetArn'))] as const] : [],
    ),
  );

const inDocument = (document: unknown): Statement[] =>
  listOf((document as { Statement?: Statement | Statement[] } | undefined)?.Statement);

/** All statements of a role, from attached and inline policies. */
export const statementsOfRole = (template: Template, role: string): Statement[] => [
  ...ofType(template, 'AWS::IAM::Policy')
    .filter(([, { Roles }]) => listOf(Roles).map(idOf).includes(role))
    .flatMap(([, { PolicyDocument }]) => inDocument(PolicyDocument)),
  ...listOf(template.Resources[role]?.Properties.Policies as object | object[] | undefined).flatMap((policy) =>
    inDocument(at(policy, 'PolicyDocument')),
  ),
];

export const statementsOfQueuePolicy = (properties: object): Statement[] =>
  inDocument(at(properties, 'PolicyDocument'));
export const trustOf = (template: Template, role: string): Statement[] =>
  inDocument(template.Resources[role]?.Properties.AssumeRolePolicyDocument);

/** The resources on which a function may perform an action, by logical id. */
export const mayOn = (template: Template, fn: string, action: string): string[] =>
  statementsOfRole(template, idOf(template.Resources[fn]?.Properties.Role))
    .filter(({ Effect, Action }) => Effect === 'Allow' && listOf(Action).includes(action))
    .flatMap(({ Resource }) => listOf(Resource).map(idOf));

/** The functions that a function's messages reach directly. */
const next = (template: Template, fn: string): string[] => {
  const sendsTo = new Set(mayOn(template, fn, 'sqs:SendMessage'));
  return sourcesOf(template).flatMap((source) => (sendsTo.has(source.queue) ? [source.fn] : []));
};

/** Whether a function's messages can come back to it, directly or through other functions. */
export const isInLoop = (template: Template, fn: string): boolean => {
  const reached = new Set<string>();
  for (let open = next(template, fn); open.length > 0; ) {
    const fresh = open.filter((each) => !reached.has(each));
    for (const each of fresh) reached.add(each);
    open = fresh.flatMap((each) => next(template, each));
  }
  return reached.has(fn);
};
