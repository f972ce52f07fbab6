/**
 * LocalStack's open core as a process, for SQS: it needs no container engine, no account, and no network once
 * installed. 4.14.0 is the last version that needs no token.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../tools/local/free-port.ts';
import type { Engine } from './engine.ts';
import { startProgram } from './program.ts';
import { pythonEnvironment } from './python.ts';
import { pythonProblem } from './python-interpreters.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
/** With Python 3.11, its SQS answers every call with 500. */
const VERSION = '3.13';

/** The reason why LocalStack cannot run here; undefined if it can. */
export const localStackProblem = (): Promise<string | undefined> => pythonProblem(VERSION);

/** The folder of its Python environment. @throws Error with the reason */
export const localStackEnvironment = (): Promise<string> =>
  pythonEnvironment({ name: 'localstack', requirements: join(HERE, 'localstack-requirements.txt'), version: VERSION });

/** Starts an empty SQS. @throws Error with the reason */
export const startLocalStack = async (): Promise<Engine> => {
  const environment = await localStackEnvironment();
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'groupage-localstack-'));
  const clear = () => rmSync(folder, { recursive: true, force: true });
  try {
    const engine = await startProgram({
      name: 'LocalStack',
      command: [join(environment, 'bin', 'python'), join(HERE, 'localstack-on-loopback.py')],
      environment: settings(port, folder),
      cwd: folder,
      port,
      serves: listsQueues,
    });
    return { endpoint: engine.endpoint, stop: () => engine.stop().finally(clear) };
  } catch (cause) {
    clear();
    throw cause;
  }
};

const settings = (port: number, folder: string): Readonly<Record<string, string>> => ({
  HOME: folder,
  TMPDIR: folder,
  FILESYSTEM_ROOT: folder,
  GATEWAY_LISTEN: `127.0.0.1:${port}`,
  // Other services are refused with a message, and not downloaded.
  SERVICES: 'sqs',
  STRICT_SERVICE_LOADING: '1',
  EAGER_SERVICE_LOADING: '1',
  // The URLs of queues begin with the address that was called.
  SQS_ENDPOINT_STRATEGY: 'dynamic',
  OVERRIDE_IN_DOCKER: '0',
  // No traffic to the outside: no events, no certificate, no name server.
  DISABLE_EVENTS: '1',
  SKIP_SSL_CERT_DOWNLOAD: '1',
  DNS_ADDRESS: '0',
});

/** LocalStack answers before its SQS does, so the check calls SQS. */
const listsQueues = async (endpoint: string): Promise<boolean> => {
  const { ok } = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.ListQueues' },
    body: '{}',
    signal: AbortSignal.timeout(5_000),
  });
  return ok;
};
