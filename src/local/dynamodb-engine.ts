/** The local DynamoDB: dynoxide where there is a build of it, otherwise Amazon's DynamoDB Local. */
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end, spawnWatched } from './child.ts';
import { dynamoDBLocalCommand } from './dynamodb-local.ts';
import { freePort } from './free-port.ts';
import { StartFailure } from './start-failure.ts';

export interface DynamoDBEngine {
  readonly name: 'dynoxide' | 'DynamoDB Local';
  /** Where our functions reach it; anybody else goes through a door. */
  readonly endpoint: string;
  /** Resolves when it ends without having been stopped, to what it said last. */
  readonly died: Promise<string>;
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** Where data stays; in memory without it. */
  readonly folder?: string;
  readonly engine?: DynamoDBEngine['name'];
}

export const startDynamoDB = async ({ port: wanted, folder, engine }: EngineOptions): Promise<DynamoDBEngine> => {
  const binary = dynoxideBinary();
  const name = engine ?? (binary ? 'dynoxide' : 'DynamoDB Local');
  const port = wanted === 0 ? await freePort() : wanted;
  const host = name === 'dynoxide' ? hiddenHost() : '127.0.0.1';
  const child =
    name === 'dynoxide' && binary
      ? spawnWatched(binary, [
          '--host',
          host,
          '--port',
          String(port),
          ...(folder ? ['--db-path', join(folder, 'dynamodb.db')] : []),
        ])
      : await spawnDynamoDBLocal(port, folder);
  return watch(name, child, host, port);
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

const spawnDynamoDBLocal = async (port: number, folder: string | undefined): Promise<ChildProcess> => {
  const { command, args, cwd } = await dynamoDBLocalCommand();
  const data = folder ? ['-dbPath', resolve(folder)] : ['-inMemory'];
  // Without this it tells browsers that any page may ask it.
  const noPage = ['-cors', 'http://127.0.0.1'];
  return spawnWatched(command, [...args, '-sharedDb', '-port', String(port), ...noPage, ...data], { cwd });
};

const watch = async (
  name: DynamoDBEngine['name'],
  child: ChildProcess,
  host: string,
  port: number,
): Promise<DynamoDBEngine> => {
  const endpoint = `http://${host}:${port}`;
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data) => {
      said = `${said}${data}`.slice(-2_000);
    });
  let stopping = false;
  const died = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once(
      'exit',
      (code, signal) => stopping || resolve(`${signal ?? `exit code ${code}`}${said.trim() ? `: ${said.trim()}` : ''}`),
    );
  });
  const failed = await Promise.race([died, answers(endpoint).then(() => undefined)]);
  if (failed !== undefined)
    throw new StartFailure(
      `${name} did not start on port ${port} (${failed}). Is the port in use, or the data folder not writable?`,
    );
  return {
    name,
    endpoint,
    died,
    stop: () => {
      stopping = true;
      return end(child);
    },
  };
};

/** Resolves when something speaks HTTP there. */
const answers = async (endpoint: string): Promise<void> => {
  for (;;) {
    try {
      await fetch(endpoint, { signal: AbortSignal.timeout(1_000) });
      return;
    } catch {
      // Not listening yet; if it never does, the race with its death decides.
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
};
