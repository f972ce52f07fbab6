/**
 * The backend `aws`, as far as tests can run it without an account: against this run's emulator, found by the
 * environment.
 */
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { describe, expect, it } from 'vitest';
import { readWanted, startOnAws } from '../backends/aws.ts';
import { deployedStack } from '../backends/backend.ts';
import { countOf, leftOf, STAGE_WITH_CALLBACKS } from '../backends/left.ts';
import { expectNothingLeft } from './nothing-left.ts';

const OURS = {
  GROUPAGE_AWS_DOWNSTREAM_URL: 'https://tunnel.example/batch',
  GROUPAGE_AWS_DOWNSTREAM_PORT: '9100',
};

describe('an AWS account', () => {
  const { cloud } = deployedStack();

  it('is not used before it is named', () => {
    expect(() => readWanted({})).toThrow(
      /GROUPAGE_AWS_ACCOUNT has.*\n.*AWS_REGION has.*\n.*DOWNSTREAM_URL has.*\n.*DOWNSTREAM_PORT has/,
    );
  });

  it('is not used if the credentials are of another one', async () => {
    const other = {
      ...OURS,
      AWS_REGION: cloud.region,
      GROUPAGE_AWS_ACCOUNT: '123456789012',
      AWS_ENDPOINT_URL: cloud.endpoint,
    };
    await expect(startOnAws(other)).rejects.toThrow(`of account ${cloud.account}, but GROUPAGE_AWS_ACCOUNT names 123`);
  });

  it('gets tagged stacks, and they are removed', async () => {
    const { given, stop } = await startOnAws({
      ...OURS,
      AWS_REGION: cloud.region,
      GROUPAGE_AWS_ACCOUNT: cloud.account,
      AWS_ENDPOINT_URL: cloud.endpoint,
    });
    if (given.functions === 'here') throw new Error('the backend has no deployed functions');
    const { suffix, tags } = given.cloud;
    const prefix = `Groupage-suite${suffix}-`;
    try {
      const { Stacks = [] } = await new CloudFormationClient().send(
        new DescribeStacksCommand({ StackName: given.stackName }),
      );
      expect(Stacks[0]?.Tags).toContainEqual({ Key: 'groupage:test-run', Value: tags['groupage:test-run'] });
      expect(countOf(await leftOf(cloud, prefix))).toEqual(STAGE_WITH_CALLBACKS);
    } finally {
      await stop();
    }
    await expectNothingLeft(cloud, prefix);
  });
});
