/** What a deployment says before and after. Pure. */
import { keepsData, stackNames } from '../../lib/stage.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { fields, withoutSecrets } from '../terminal.ts';
import { stateOf, wayOut } from './stacks.ts';

/** Of this machine, and of no other. */
const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/;

/** What may be meant, but often is not. */
export const warningsOf = (stage: string, { operations }: Config): string[] => [
  ...Object.values(operations).flatMap(({ operation, downstream }) =>
    downstream.kind === 'http' && LOOPBACK.test(new URL(downstream.url).hostname)
      ? [
          `the downstream of ${operation} is ${withoutSecrets(downstream.url)}, which no Lambda function can reach: its tasks will fail`,
        ]
      : [],
  ),
  ...(keepsData(stage)
    ? []
    : [`the tables of ${stage} go when its stacks are removed; those of a stage that begins with prod stay`]),
];

/** Opens what is said of a failure: its causes follow, or `cdk` has shown them, unless it was interrupted. */
export const headingOf = (
  what: string,
  { causes, interrupted }: { readonly causes: readonly string[]; readonly interrupted: boolean },
): string => `\n${what}${causes.length > 0 ? ':' : interrupted ? '.' : ', see above.'}`;

/** What a stage that keeps its data still has when it was removed. */
export const staysOf = (stage: string, { name, status }: { readonly name: string; readonly status: string }): string =>
  [
    stateOf(status) === 'whole'
      ? `${name} stays, with its tables: the next \`npm run deploy -- --stage ${stage}\` goes on with them.`
      : `${name} stays, with its tables. ${wayOut(name, status, stage)}.`,
    'The register queue, its dead letters and the rejected queue, if they were there, stay too, and no stack owns them now. docs/how-to/deploy.md says what to do with them',
  ].join(' ');

/** The outputs, and what to do with them. */
export const nextSteps = (
  stage: string,
  stacks: readonly { readonly name: string; readonly outputs: Readonly<Record<string, string>> }[],
): string => {
  const { flow, ops } = stackNames(stage);
  const outputsOf = (stack: string) => stacks.find(({ name }) => name === stack)?.outputs ?? {};
  const { ApiUrl, RegisterQueueUrl, RejectedQueueUrl } = outputsOf(flow);
  return [
    '',
    fields([
      ['register queue', RegisterQueueUrl],
      ['rejected queue', RejectedQueueUrl],
      ['API', ApiUrl],
      ['dashboard', outputsOf(ops).DashboardName],
    ]),
    '',
    'Producers send to the register queue. To look, and to send by hand:',
    `  npm run groupage -- targets --stack ${flow}`,
    `  npm run groupage -- send OPERATION PAYLOAD --stack ${flow}`,
  ].join('\n');
};
