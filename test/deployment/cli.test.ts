import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccount } from '../../tools/account/stacks.ts';
import type { SettingsLook } from '../../tools/cli/commands/doctor/settings.ts';
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

  const run = async (...args: string[]) => {
    const { cloud, stackName } = deployedStack();
    // The emulator serves function URLs at its own address.
    const address = cloud.endpoint
      ? ['--api', `${await apiAddress(await openAccount(process.env), cloud, stackName)}/v1`]
      : [];
    return runIn(cloud, 'node', ['bin/groupage.ts', ...args, '--stack', stackName, ...address]);
  };
  const groupage = async (...args: string[]): Promise<string> => {
    const { code, output } = await run(...args);
    expect(code, output).toBe(0);
    return output;
  };

  it('registers a task in a deployed stack, and waits for its end', async () => {
    const id = (await groupage('send', 'ship', '{"depot":"from the command line"}')).trim();
    const told = JSON.parse(await groupage('status', id, '--wait', '--json')) as object;
    expect(told).toMatchObject({ id, status: 'succeeded', target: flow.target('from the command line') });
    expect(await groupage('targets')).toContain(flow.target('from the command line'));
  });

  it('redrives a failed task, and reads the dead letters', async () => {
    flow.downstream.behave(() => ({ status: 422 }));
    const [id = ''] = await flow.send([{ depot: 'redriven from the command line' }]);
    await flow.ended([id]);
    flow.downstream.behave(() => ({ status: 200 }));
    expect(await groupage('redrive', id)).toContain('1 task runs again');
    await eventually(async () => (await flow.task(id))?.status === 'succeeded');
    expect(await flow.task(id)).toMatchObject({ run: 2 });
    const dry = await groupage('redrive', '--dead-letters', 'all', '--dry-run');
    for (const queue of ['register', 'elect', 'group', 'batch']) expect(dry).toContain(`${queue}: `);
  });

  it('checks settings, throttles and the clock', async () => {
    const look = async () => {
      const { settings } = JSON.parse((await run('doctor', '--json')).output) as { settings: SettingsLook };
      // The emulator ignores a template's time to live; the doctor finds that, correctly.
      const rules = settings.contradictions.map(({ rule }) => rule);
      return { ...settings, contradictions: rules.filter((rule) => rule !== 'no-expiry') };
    };
    expect(await look()).toEqual({ contradictions: [], throttled: [], clockAheadBy: 0, unseen: [] });
    const set = (VisibilityTimeout: string) =>
      flow.backend.clients.sqs.send(
        new SetQueueAttributesCommand({ QueueUrl: flow.queue('electQueue'), Attributes: { VisibilityTimeout } }),
      );
    await set('30');
    expect((await look()).contradictions).toEqual(['lease-visibility']);
    await set('60');
  });
});
