/** The local DynamoDB: dynoxide where there is a build of it, otherwise Amazon's DynamoDB Local. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end, spawnWatched } from './child.ts';
import { dynamoDBLocalCommand } from './dynamodb-local.ts';
import { freePort } from './free-port.ts';
import { StartFailure } from './start-failure.ts';

export interface DynamoDBEngine {
  readonly name: 'dynoxide' | 'DynamoDB Local';
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
  const child =
    name === 'dynoxide' && binary
      ? spawnWatched(binary, [
          '--host',
          '127.0.0.1',
          '--port',
          String(port),
          ...(folder ? ['--db-path', join(folder, 'dynamodb.db')] : []),
        ])
      : await spawnDynamoDBLocal(port, folder);
  return watch(name, child, port);
};

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
  return spawnWatched(command, [...args, '-sharedDb', '-port', String(port), ...data], { cwd });
};

const watch = async (name: DynamoDBEngine['name'], child: ChildProcess, port: number): Promise<DynamoDBEngine> => {
  const endpoint = `http://127.0.0.1:${port}`;
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
