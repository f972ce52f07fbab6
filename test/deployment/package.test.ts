/** A user's CDK app with the published package, from `npm install` to the first batch. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { openAccount } from '../../tools/account/stacks.ts';
import { deployedStack } from '../backends/backend.ts';
import { ROOT } from '../backends/cdk.ts';
import { environmentOf } from '../backends/cloud.ts';
import { apiAddress } from '../backends/deployed.ts';
import { fitToEmulator } from '../backends/emulator-fit.ts';
import { makeApp } from '../package/cdk-app.ts';
import { pack, run } from '../package/tarball.ts';

const { cloud } = deployedStack();

// The stack's name is that of its folder; an account may have a stack of that name.
describe.skipIf(cloud.name !== 'ministack')('an app with the package', () => {
  let folder: string;
  beforeAll(async () => {
    folder = join(temporaryFolder('adopts'), 'app');
    mkdirSync(folder);
    await makeApp(folder, await pack());
  });

  const inApp = (command: string, ...args: string[]): Promise<string> =>
    run(folder, command, args, { ...environmentOf(cloud), CDK_DISABLE_CLI_TELEMETRY: 'true', CDK_VALIDATION: 'false' });

  it('is deployed, and its first task is in the first batch', async () => {
    await inApp(join(ROOT, 'node_modules/.bin/cdk'), 'deploy', '--require-approval', 'never');
    await fitToEmulator(cloud);
    const address = `${await apiAddress(await openAccount(process.env), cloud, 'AppStack')}/v1`;
    const groupage = (...args: string[]): Promise<string> =>
      inApp(join(folder, 'node_modules/.bin/groupage'), ...args, '--stack', 'AppStack', '--api', address);
    const id = (await groupage('send', 'distribute-parcels', '{"carrier":"DHL","depot":"MUC"}')).trim();
    expect(JSON.parse(await groupage('status', id, '--wait', '--json'))).toMatchObject({
      id,
      status: 'succeeded',
      target: 'distribute-parcels/carrier=DHL/depot=MUC',
    });
    const { batches } = JSON.parse(await groupage('batches', '--json')) as { batches: object[] };
    expect(batches).toMatchObject([{ status: 'succeeded', counts: { succeeded: 1 } }]);
  });
});
