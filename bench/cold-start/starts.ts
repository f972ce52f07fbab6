/** Starts functions as Lambda does: in a new process each time, with the Node.js version of Lambda. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleHandlers } from '../../lib/handler-bundles.ts';
import { HANDLERS, type HandlerName } from '../../lib/handler-names.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { CONFIG_ASSET, ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { aConfig } from '../../test/factories/factories.ts';
import { type Size, sizeOf } from './sizes.ts';

const PROBE = join(import.meta.dirname, 'probe.mjs');

/** The name of a function that does nothing, so that only Node.js itself is started. */
export const EMPTY = 'empty';

export type Started = HandlerName | typeof EMPTY;
const STARTED: readonly Started[] = [EMPTY, ...HANDLERS];

/**
 * The event of the invocation: a request for a function behind a URL, and an empty queue event for all others. The
 * sweep ignores its event.
 */
const eventOf = (name: Started): object =>
  name === 'api'
    ? {
        version: '2.0',
        rawPath: '/v1/about',
        rawQueryString: '',
        headers: { host: 'api.example' },
        requestContext: { http: { method: 'GET', path: '/v1/about' }, domainName: 'api.example' },
      }
    : { Records: [] };

/** The environment variables that Lambda and the construct set. No server listens at the endpoint. */
const environmentOf = (folder: string): Record<string, string> => ({
  NODE_OPTIONS: '--enable-source-maps',
  LAMBDA_TASK_ROOT: folder,
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
  ...Object.fromEntries(Object.values(ENVIRONMENT).map((name) => [name, `http://127.0.0.1:9/${name}`])),
  [ENVIRONMENT.destinations]: '{}',
});

export interface Bundles {
  readonly folder: string;
  readonly sizes: ReadonlyMap<HandlerName, Size>;
}

/** Makes the bundles of all functions and of the empty function, in a folder that is removed when this process ends. */
export const makeBundles = (): Bundles => {
  const folder = temporaryFolder('cold-start');
  const bundles = bundleHandlers(folder);
  for (const name of HANDLERS) writeFileSync(join(folder, name, CONFIG_ASSET), JSON.stringify(aConfig()));
  mkdirSync(join(folder, EMPTY));
  writeFileSync(join(folder, EMPTY, 'index.mjs'), 'export const handler = async () => {};\n');
  return { folder, sizes: new Map([...bundles].map(([name, files]) => [name, sizeOf(files)])) };
};

/** The time from the start of the process to its first invocation: elapsed time and processor time, in milliseconds. */
export interface Start {
  readonly ms: number;
  readonly cpu: number;
}

const start = (bundles: string, name: Started): Start => {
  const folder = join(bundles, name);
  const args = [PROBE, folder, JSON.stringify(eventOf(name))];
  const printed = execFileSync(process.execPath, args, { encoding: 'utf8', env: environmentOf(folder) });
  return JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Start;
};

/** Starts the functions in turn, so that other work on the machine affects all of them. */
export const startAll = (bundles: string, runs: number): ReadonlyMap<Started, readonly Start[]> => {
  const all = new Map(STARTED.map((name) => [name, [] as Start[]]));
  for (let run = 0; run < runs; run += 1) for (const [name, took] of all) took.push(start(bundles, name));
  return all;
};
