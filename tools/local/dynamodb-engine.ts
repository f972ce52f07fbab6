/**
 * The local DynamoDB: dynoxide if there is a build for this platform, otherwise Amazon's DynamoDB Local. Both write to disk
 * before they acknowledge, so an engine that crashes is restarted with the same data and port.
 */
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartFailure } from '../failure.ts';
import { end, spawnWatched } from './child.ts';
import { dataFailure } from './data-file.ts';
import { dynamoDBLocalCommand } from './dynamodb-local.ts';
import { freePort, untilFree } from './free-port.ts';
import { keepRunning, type Run } from './keep-running.ts';

export interface DynamoDBEngine {
  readonly name: 'dynoxide' | 'DynamoDB Local';
  /** Endpoint for Groupage's own functions. Other clients use the guarded proxy. */
  readonly endpoint: string;
  /** Resolves to a message if the engine crashed and is not restarted. */
  readonly died: Promise<string>;
  /** Resolves immediately, or after a restart that is under way. */
  settled(): Promise<unknown>;
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** 0 means any free port. */
  readonly port: number;
  /** Folder for data. If absent, the data is in memory and is lost when the engine stops. */
  readonly folder?: string;
  readonly engine?: DynamoDBEngine['name'];
  /** Called with a message after the engine crashed and was restarted. */
  readonly onRestart?: (what: string) => void;
}

/** Data files of the engines. */
const FILES: Readonly<Record<DynamoDBEngine['name'], string>> = {
  dynoxide: 'dynamodb.db',
  'DynamoDB Local': 'shared-local-instance.db',
};

/** @throws StartFailure */
export const startDynamoDB = async (options: EngineOptions): Promise<DynamoDBEngine> => {
  const { folder, engine, onRestart = () => {} } = options;
  const binary = dynoxideBinary();
  const name = engine ?? (binary ? 'dynoxide' : 'DynamoDB Local');
  const port = options.port === 0 ? await freePort() : options.port;
  const host = name === 'dynoxide' ? hiddenHost() : '127.0.0.1';
  const endpoint = `http://${host}:${port}`;
  const start = async (): Promise<Run> => {
    // Check for damage before the start. In a running engine, single requests would fail with errors that do not name
    // the file.
    const failure = folder && dataFailure('tables', join(folder, FILES[name]));
    if (failure) throw failure;
    // A program that still listens on the port would receive the requests.
    await untilFree(host, port);
    const child =
      name === 'dynoxide' && binary ? spawnDynoxide(binary, host, port, folder) : await spawnLocal(port, folder);
    return untilAnswers(name, child, endpoint, folder && join(folder, FILES[name]));
  };
  if (folder === undefined) {
    const run = await start();
    const died = run.ended.then((why) => `${name} crashed (${why}). Its data was in memory and is lost`);
    return { name, endpoint, died, settled: async () => {}, stop: run.stop };
  }
  const kept = await keepRunning(start, (why) => onRestart(`${name} crashed (${why}) and was restarted with its data`));
  const died = kept.givenUp.then((why) => `${name} crashed ${why}. Its stored data is kept`);
  return { name, endpoint, died, settled: kept.settled, stop: kept.stop };
};

/**
 * A random loopback address. dynoxide serves any client, including web pages, so only Groupage's functions and the guarded
 * proxy (`guarded-proxy.ts`) get its address. On Linux all of 127.0.0.0/8 is this machine, and dynoxide has no build for
 * other systems.
 */
const hiddenHost = (): string => `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`;

const dynoxideBinary = (): string | undefined => {
  try {
    const path = join(
      dirname(fileURLToPath(import.meta.resolve(`@dynoxide/${process.platform}-${process.arch}/package.json`))),
      'dynoxide',
    );
    return existsSync(path) ? path : undefined;
  } catch {
    // The package is missing: either it has no build for this platform, or optional dependencies were not installed.
    return undefined;
  }
};

const spawnDynoxide = (binary: string, host: string, port: number, folder: string | undefined): ChildProcess => {
  const data = folder === undefined ? [] : ['--db-path', join(folder, FILES.dynoxide)];
  return spawnWatched(binary, ['--host', host, '--port', String(port), ...data]);
};

const spawnLocal = async (port: number, folder: string | undefined): Promise<ChildProcess> => {
  const { command, args, cwd } = await dynamoDBLocalCommand();
  const data = folder === undefined ? ['-inMemory'] : ['-dbPath', resolve(folder)];
  // Without this option, DynamoDB Local allows requests of any web page (CORS).
  const noPage = ['-cors', 'http://127.0.0.1'];
  return spawnWatched(command, [...args, '-sharedDb', '-port', String(port), ...noPage, ...data], { cwd });
};

/** @param file data file. @throws StartFailure if the program ends before it responds. */
const untilAnswers = async (
  name: DynamoDBEngine['name'],
  child: ChildProcess,
  endpoint: string,
  file: string | undefined,
): Promise<Run> => {
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data) => {
      said = `${said}${data}`.slice(-2_000);
    });
  const gone = new AbortController();
  let isStopping = false;
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      gone.abort();
      const last = said.trim().replaceAll(/\s+/g, ' ');
      if (!isStopping) resolve(`${signal ?? `exit code ${code}`}${last === '' ? '' : `: ${last}`}`);
    });
  });
  const failed = await Promise.race([ended, answers(endpoint, gone.signal).then(() => undefined)]);
  if (failed !== undefined)
    throw new StartFailure(
      `${name} did not start at ${endpoint} (${failed}). ${file === undefined ? 'The port may be in use.' : `The port may be in use, or another program may have ${file} open.`}`,
    );
  // The output of the start does not explain a later crash.
  said = '';
  return {
    ended,
    stop: () => {
      isStopping = true;
      return end(child);
    },
  };
};

/** Resolves when the endpoint responds over HTTP. Never resolves if the program ends first. */
const answers = async (endpoint: string, gone: AbortSignal): Promise<void> => {
  while (!gone.aborted) {
    try {
      await fetch(endpoint, { signal: AbortSignal.any([gone, AbortSignal.timeout(1_000)]) });
      return;
    } catch {
      // The program is not listening yet. If it exits, the caller stops waiting.
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  await new Promise(() => {});
};
