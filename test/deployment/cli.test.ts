import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccount } from '../../src/account/stacks.ts';
import { deployedStack } from '../backends/backend.ts';
import { runIn } from '../backends/cdk.ts';
import { apiAddress } from '../backends/deployed.ts';
import { type Flow, startFlow } from '../end-to-end/flow.ts';

describe('the command line with --stack', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow('ship');
  });
  afterAll(() => flow?.stop());

  const groupage = async (...args: string[]): Promise<string> => {
    const { cloud, stackName } = deployedStack();
    // An emulator answers for function URLs elsewhere than where their names lead.
    const address = cloud.endpoint
      ? ['--api', `${await apiAddress(await openAccount(process.env), cloud, stackName)}/v1`]
      : [];
    const { code, output } = await runIn(cloud, 'node', ['bin/groupage.ts', ...args, '--stack', stackName, ...address]);
    expect([code, output]).toEqual([0, expect.any(String)]);
    return output;
  };

  it('registers a task in a deployed stack and follows it to its end', async () => {
    const id = (await groupage('send', 'ship', '{"depot":"from the command line"}')).trim();
    const told = JSON.parse(await groupage('status', id, '--wait', '--json')) as object;
    expect(told).toMatchObject({ id, status: 'succeeded', target: flow.target('from the command line') });
    expect(await groupage('targets')).toContain(flow.target('from the command line'));
  });
});
