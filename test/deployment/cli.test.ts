import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccount } from '../../src/account/stacks.ts';
import { deployedStack } from '../backends/backend.ts';
import { runIn } from '../backends/cdk.ts';
import { apiAddress } from '../backends/deployed.ts';
import { eventually, type Flow, startFlow } from '../end-to-end/flow.ts';

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

  it('gives a failed task another run, and asks about dead letters', async () => {
    flow.downstream.behave(() => ({ status: 422 }));
    const [id = ''] = await flow.send([{ depot: 'redriven from the command line' }]);
    await flow.ended([id]);
    flow.downstream.behave(() => ({ status: 200 }));
    expect(await groupage('redrive', id)).toContain('1 task gets another run');
    await eventually(async () => (await flow.task(id))?.status === 'succeeded');
    expect(await flow.task(id)).toMatchObject({ run: 2 });
    const dry = await groupage('redrive', '--dead-letters', 'all', '--dry-run');
    for (const queue of ['register', 'elect', 'group', 'batch']) expect(dry).toContain(`${queue}: `);
  });
});
