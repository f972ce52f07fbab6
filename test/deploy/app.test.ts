import type { Stack } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { expect, it } from 'vitest';
import { groupageApp } from '../../lib/app.ts';
import { keepsData, stackNames } from '../../lib/stage.ts';
import { aConfig } from '../factories/factories.ts';

const app = (stage: string) =>
  groupageApp({ config: aConfig(), stage, code: () => Code.fromInline('export const handler = 0') });

it('all stacks have the tag of their stage, by which deployments find them', () => {
  for (const stage of ['dev', 'prod']) {
    const { node } = app(stage);
    for (const name of Object.values(stackNames(stage)))
      expect((node.findChild(name) as Stack).tags.tagValues()).toEqual({ 'groupage:stage': stage });
  }
});

it('a stage keeps its data if its name begins with prod', () => {
  expect(['prod', 'prod-eu', 'production', 'dev', 'reprod'].map(keepsData)).toEqual([true, true, true, false, false]);
});

it('an invalid stage name stops the synthesis with a message', () => {
  expect(() => app('a_b')).toThrow(/letters, digits and hyphens/);
  expect(() => app('PROD')).toThrow(/in lower case/);
});
