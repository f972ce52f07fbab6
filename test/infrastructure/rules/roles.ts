/** Rules that hold for every role: its function can do its work, and nothing else. */
import { functionsOf, type Statement, statementsOfRole, trustOf } from './flow.ts';
import { differing, idOf, listOf, ofType, type Rule, type Template } from './template.ts';

/** Statements that need a wildcard, with the reason. Every other resource is known at synth. */
const EXPLAINED_WILDCARDS: Readonly<Record<string, string>> = {
  [JSON.stringify([
    [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ],
    '*',
  ])]: 'Lambda manages the network interfaces of a VPC; the function itself has no right, see options.test.ts',
  [JSON.stringify([['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*'])]: 'X-Ray takes traces for no resource',
};

const rolesOf = (template: Template) => ofType(template, 'AWS::IAM::Role');

export const rolesBelongToOneFunction: Rule = (template) => {
  const users = Map.groupBy(functionsOf(template), ([, { Role }]) => idOf(Role));
  return [
    ...rolesOf(template).flatMap(([id]) =>
      users.get(id)?.length === 1 ? [] : [`${id}: is not the role of one function`],
    ),
    ...[...users].flatMap(([role, functions]) =>
      role in template.Resources ? [] : [`${functions.map(([id]) => id).join(', ')}: role is not in the template`],
    ),
    ...ofType(template, 'AWS::IAM::Policy').flatMap(([id, { Roles, Users, Groups }]) =>
      listOf(Roles).length === 1 && !Users && !Groups ? [] : [`${id}: is not the policy of one role`],
    ),
  ];
};

export const rolesTrustLambdaAlone: Rule = (template) =>
  rolesOf(template).flatMap(([id]) => {
    const promised = [{ Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' } }];
    return JSON.stringify(trustOf(template, id)) === JSON.stringify(promised)
      ? []
      : [`${id}: is trusted to ${JSON.stringify(trustOf(template, id))}`];
  });

/** Managed policies change without a deployment, and grant more than a function needs. */
export const rolesHaveNoManagedPolicies: Rule = (template) => [
  ...rolesOf(template).flatMap(([id, properties]) => differing(id, properties, { ManagedPolicyArns: undefined })),
  ...ofType(template, 'AWS::IAM::ManagedPolicy').map(([id]) => `${id}: is a managed policy`),
];

/** Secrets Manager appends a hyphen and six random characters to a name. Six question marks match no longer name. */
const SECRET_SUFFIX = /(:secretsmanager:.*:secret:[^*?]+)-\?{6}(?=")/g;

const hasWildcard = ({ Action, Resource }: Statement): boolean =>
  !Action || !Resource || /[*?]/.test(JSON.stringify([Action, Resource]).replaceAll(SECRET_SUFFIX, '$1'));

export const statementsNameWhatTheyAllow: Rule = (template) =>
  rolesOf(template).flatMap(([id]) =>
    statementsOfRole(template, id).flatMap((statement) => {
      const text = JSON.stringify([statement.Action, statement.Resource]);
      return hasWildcard(statement) && !(text in EXPLAINED_WILDCARDS) ? [`${id}: unexplained wildcard in ${text}`] : [];
    }),
  );

/** A function writes into its own log group, and has no other right on logs. */
export const functionsWriteTheirOwnLogsAlone: Rule = (template) =>
  functionsOf(template).flatMap(([id, { Role, LoggingConfig }]) => {
    const own = idOf((LoggingConfig as { LogGroup?: unknown } | undefined)?.LogGroup);
    const logs = statementsOfRole(template, idOf(Role)).filter(({ Action }) =>
      listOf(Action).some((action) => action.startsWith('logs:')),
    );
    const actions = logs.flatMap(({ Action }) => listOf(Action)).toSorted();
    const groups = logs.flatMap(({ Resource }) => listOf(Resource).map(idOf));
    return [
      ...(groups.every((group) => group === own) ? [] : [`${id}: may write logs into ${groups.join(', ')}`]),
      ...(actions.join() === 'logs:CreateLogStream,logs:PutLogEvents'
        ? []
        : [`${id}: has the rights ${actions.join() || 'none'} on logs`]),
    ];
  });

/**
 * Lambda refuses an event source if its function's role may not receive, and a schedule could start a function without
 * rights. The emulator creates resources in its own order, so that tests on it cannot show the fault.
 */
export const functionsWaitForTheirPolicies: Rule = (template) =>
  functionsOf(template).flatMap(([id, { Role }]) => {
    const waitsFor = listOf(template.Resources[id]?.DependsOn);
    return ofType(template, 'AWS::IAM::Policy')
      .filter(([, { Roles }]) => listOf(Roles).map(idOf).includes(idOf(Role)))
      .flatMap(([policy]) => (waitsFor.includes(policy) ? [] : [`${id}: may exist before ${policy}`]));
  });
