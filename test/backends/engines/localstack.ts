/**
 * LocalStack's open core as a process, for SQS: no container engine, no account, nothing from outside once it is
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
/** With 3.11, its SQS answers every call with 500. */
const VERSION = '3.13';

/** Why LocalStack cannot run here, in words; undefined when it can. */
export const localStackProblem = (): Promise<string | undefined> => pythonProblem(VERSION);

/** The folder of its Python environment. @throws Error in words */
export const localStackEnvironment = (): Promise<string> =>
  pythonEnvironment({ name: 'localstack', requirements: join(HERE, 'localstack-requirements.txt'), version: VERSION });

/** SQS, empty, until it is stopped. @throws Error in words */
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
  // Everything else is refused in words, instead of wanting downloads.
  SERVICES: 'sqs',
  STRICT_SERVICE_LOADING: '1',
  EAGER_SERVICE_LOADING: '1',
  // The URLs of queues begin with the address that was called.
  SQS_ENDPOINT_STRATEGY: 'dynamic',
  OVERRIDE_IN_DOCKER: '0',
  // Nothing to the outside: no events, no certificate, no name server.
  DISABLE_EVENTS: '1',
  SKIP_SSL_CERT_DOWNLOAD: '1',
  DNS_ADDRESS: '0',
});

/** It answers before SQS does: only a call to SQS tells. */
const listsQueues = async (endpoint: string): Promise<boolean> => {
  const { ok } = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.ListQueues' },
    body: '{}',
    signal: AbortSignal.timeout(5_000),
  });
  return ok;
};
