/**
 * The local DynamoDB: dynoxide where there is a build of it, otherwise Amazon's DynamoDB Local. Both have on disk what
 * they acknowledged, so one that ended by itself is started again, on the same data and port.
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
  /** Where our functions reach it; anybody else goes through a door. */
  readonly endpoint: string;
  /** Resolves, to a sentence, when it has ended by itself and is not started again. */
  readonly died: Promise<string>;
  /** Resolves at once, or when it has been started again. */
  settled(): Promise<unknown>;
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** Where data stays; in memory without it, and gone when the engine ends. */
  readonly folder?: string;
  readonly engine?: DynamoDBEngine['name'];
  /** Is told in a sentence when it ended by itself and runs again. */
  readonly onRestart?: (what: string) => void;
}

/** Where the engines keep their data. */
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
    // If the engine found damage later, single requests would fail, with errors that do not name the file.
    const failure = folder && dataFailure('tables', join(folder, FILES[name]));
    if (failure) throw failure;
    // Whoever still listens there would answer in its place.
    await untilFree(host, port);
    const child =
      name === 'dynoxide' && binary ? spawnDynoxide(binary, host, port, folder) : await spawnLocal(port, folder);
    return untilAnswers(name, child, endpoint, folder && join(folder, FILES[name]));
  };
  if (folder === undefined) {
    const run = await start();
    const died = run.ended.then((why) => `${name} ended (${why}), and with it all data, which it kept in memory`);
    return { name, endpoint, died, settled: async () => {}, stop: run.stop };
  }
  const kept = await keepRunning(start, (why) => onRestart(`${name} ended (${why}) and runs again, with its data`));
  const died = kept.givenUp.then((why) => `${name} ended ${why}; data that was written is kept`);
  return { name, endpoint, died, settled: kept.settled, stop: kept.stop };
};

/**
 * A loopback address that nobody knows. dynoxide answers whoever asks, web pages too: it is reached by our functions, and
 * through a door (`door.ts`). On Linux all of 127.0.0.0/8 is this machine, and there is no build for another system.
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
    // No such package: there is no build for this platform, or optional dependencies were left out.
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
  // Without this it tells browsers that any page may ask it.
  const noPage = ['-cors', 'http://127.0.0.1'];
  return spawnWatched(command, [...args, '-sharedDb', '-port', String(port), ...noPage, ...data], { cwd });
};

/** @param file of its data. @throws StartFailure when it ends before it answers. */
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
      `${name} did not start at ${endpoint} (${failed}). ${file === undefined ? 'Is the port in use?' : `Is the port in use, or has another program ${file} open?`}`,
    );
  // What it says of its start tells nothing about its end.
  said = '';
  return {
    ended,
    stop: () => {
      isStopping = true;
      return end(child);
    },
  };
};

/** Resolves when something speaks HTTP there; never, when it is gone before. */
const answers = async (endpoint: string, gone: AbortSignal): Promise<void> => {
  while (!gone.aborted) {
    try {
      await fetch(endpoint, { signal: AbortSignal.any([gone, AbortSignal.timeout(1_000)]) });
      return;
    } catch {
      // Not listening yet; if it never does, the race with its end decides.
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  await new Promise(() => {});
};
