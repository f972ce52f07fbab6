/**
 * A cloud on this machine: the emulator ministack accepts a plain `cdk bootstrap` and `cdk deploy`, and runs the
 * functions with their queues. It enforces IAM and the queues' policies, including TLS, so that a missing grant fails
 * a test. docs/how-to/test-groupage.md lists what it ignores.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stackNames } from '../../lib/stage.ts';
import { freePort } from '../../tools/local/free-port.ts';
import { suiteInput } from '../end-to-end/operations.ts';
import { cdkFor, deployAll, ROOT, succeeded } from './cdk.ts';
import { type Cloud, enter } from './cloud.ts';
import { fitToEmulator } from './emulator-fit.ts';
import { startProgram } from './engines/program.ts';
import { pythonEnvironment } from './engines/python.ts';
import type { Started } from './setup.ts';

const STAGE = 'suite';

export interface Emulator {
  readonly cloud: Cloud;
  stop(): Promise<void>;
}

export const startEmulator = async (): Promise<Emulator> => {
  const environment = await pythonEnvironment({
    name: 'ministack',
    requirements: join(ROOT, 'test/backends/engines/ministack-requirements.txt'),
    version: '3.10+',
  });
  const folder = mkdtempSync(join(tmpdir(), 'groupage-ministack-'));
  // Its workers are CommonJS: without this file, a package.json above the temporary folder could make them ES modules.
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}');
  const port = await freePort();
  const cloud: Cloud = {
    name: 'ministack',
    account: '000000000000',
    region: 'us-east-1',
    endpoint: `https://localhost:${port}`,
    certificate: join(folder, 'ministack-tls/server.crt'),
    suffix: '',
    tags: {},
  };
  const clear = () => rmSync(folder, { recursive: true, force: true });
  try {
    const engine = await startProgram({
      name: 'ministack',
      command: [join(environment, 'bin', 'ministack')],
      environment: {
        HOME: folder,
        TMPDIR: folder,
        // The functions run on the Node.js version that Lambda has.
        PATH: `${join(ROOT, 'node_modules/node/bin')}:${process.env.PATH}`,
        BIND_HOST: '127.0.0.1',
        // A name, since it becomes the end of an API's host name.
        MINISTACK_HOST: 'localhost',
        GATEWAY_PORT: String(port),
        AUTH: 'true',
        USE_SSL: '1',
      },
      cwd: folder,
      port,
      serves: () => answers(cloud),
    });
    return { cloud, stop: () => engine.stop().finally(clear) };
  } catch (cause) {
    clear();
    throw cause;
  }
};

/** The emulator creates its certificate before it listens. */
const answers = async (cloud: Cloud): Promise<boolean> => {
  if (!existsSync(cloud.certificate ?? '')) return false;
  enter(cloud);
  return (await fetch(`${cloud.endpoint}/_ministack/health`)).ok;
};

export const startOnMinistack = async (): Promise<Started> => {
  const emulator = await startEmulator();
  const { cloud } = emulator;
  try {
    const downstreamPort = await lastingPort();
    const downstreamUrl = `http://127.0.0.1:${downstreamPort}/batch`;
    const cdk = cdkFor(cloud, STAGE, suiteInput(downstreamUrl));
    succeeded(await cdk('bootstrap', `aws://${cloud.account}/${cloud.region}`));
    await deployAll(cdk);
    await fitToEmulator(cloud);
    const { flow: stackName } = stackNames(STAGE);
    return {
      given: { functions: 'deployed', cloud, stackName, downstreamUrl, downstreamPort },
      // The stage ends with the emulator. test/deployment tests the removal of stages.
      stop: () => emulator.stop(),
    };
  } catch (cause) {
    await emulator.stop();
    throw cause;
  }
};

/** A port that is free now. Not from the range that the operating system assigns, since the port is used only later. */
const lastingPort = async (): Promise<number> => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
};
