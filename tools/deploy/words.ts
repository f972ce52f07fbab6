/** Texts that a deployment prints before and after. Pure. */
import { keepsData, stackNames } from '../../lib/stage.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { fields, withoutSecrets } from '../terminal.ts';
import { stateOf, wayOut } from './stacks.ts';

/** Host names of this machine. */
const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/;

/** Warnings about valid settings that are often a mistake. */
export const warningsOf = (stage: string, { operations }: Config): string[] => [
  ...Object.values(operations).flatMap(({ operation, downstream }) =>
    downstream.kind === 'http' && LOOPBACK.test(new URL(downstream.url).hostname)
      ? [
          `the downstream of ${operation} is ${withoutSecrets(downstream.url)}, which a Lambda function cannot reach, so its tasks will fail`,
        ]
      : [],
  ),
  ...(keepsData(stage)
    ? []
    : [
        `the tables of ${stage} are deleted when its stacks are removed. Only stages whose names begin with prod keep their tables`,
      ]),
];

/** First line about a failure. Causes follow it, or `cdk` has printed them above. */
export const headingOf = (
  what: string,
  { causes, interrupted }: { readonly causes: readonly string[]; readonly interrupted: boolean },
): string => `\n${what}${causes.length > 0 ? ':' : interrupted ? '.' : ', see above.'}`;

/** Explains what remains of a removed stage that keeps its data. */
export const staysOf = (stage: string, { name, status }: { readonly name: string; readonly status: string }): string =>
  [
    stateOf(status) === 'whole'
      ? `${name} and its tables stay. The next \`npm run deploy -- --stage ${stage}\` uses them again.`
      : `${name} and its tables stay. ${wayOut(name, status, stage)}.`,
    'The register queue, its dead-letter queue and the rejected queue stay too, if they existed, and no stack owns them now. docs/how-to/deploy.md explains what to do with them',
  ].join(' ');

/** The outputs of the stacks, and the next steps. */
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
    'Producers send their tasks to the register queue. To list Targets, and to send a task by hand:',
    `  npm run groupage -- targets --stack ${flow}`,
    `  npm run groupage -- send OPERATION PAYLOAD --stack ${flow}`,
  ].join('\n');
};
