/** Unusable data files of the local engines: a start names the file and says what to do. */
import {
  chmodSync,
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { StartFailure } from '../../tools/failure.ts';
import { localClients } from '../../tools/local/clients.ts';
import { startEngines } from '../../tools/local/engines.ts';

const PORTS = { dynamodb: 0, sqs: 0 };
const FILES = { tables: 'dynamodb.db', queues: 'fauxqs.db' } as const;

/** Ways in which a file becomes unusable. */
const SPOIL: Readonly<Record<string, (file: string) => void>> = {
  'is no database': (file) => writeFileSync(file, 'not a database'.repeat(1_000)),
  'ends within a page': (file) => truncateSync(file, 1_000),
  // Beyond the first pages, which the engines read at start.
  'has garbage inside': (file) => {
    const { size } = statSync(file);
    const garbage = Buffer.alloc(Math.floor(size / 2 / 4_096) * 4_096, 'garbage');
    const to = openSync(file, 'r+');
    writeSync(to, garbage, 0, garbage.length, size - garbage.length);
    closeSync(to);
  },
  'has an unknown format': (file) => {
    const to = openSync(file, 'r+');
    writeSync(to, Buffer.from([7, 7, 7, 7]), 0, 4, 44);
    closeSync(to);
  },
  'was cut in half': (file) => truncateSync(file, Math.floor(statSync(file).size / 2 / 4_096) * 4_096),
};

describe('a start whose data file', () => {
  let sound: string;
  beforeAll(async () => {
    sound = temporaryFolder('data');
    const { dynamodb, sqs, stop } = await startEngines({ folder: sound, ports: PORTS, engine: 'dynoxide' });
    const clients = localClients({ dynamodb: dynamodb.endpoint, sqs: sqs.endpoint });
    await clients.dynamodb.send(
      new CreateTableCommand({
        TableName: 'tasks',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'Id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'Id', KeyType: 'HASH' }],
      }),
    );
    await clients.sqs.send(new CreateQueueCommand({ QueueName: 'register' }));
    await stop();
  });

  const failureOf = async (folder: string): Promise<string> => {
    const failure = await startEngines({ folder, ports: PORTS, engine: 'dynoxide' }).then(
      ({ stop }) => stop(),
      (cause: unknown) => cause,
    );
    expect(failure).toBeInstanceOf(StartFailure);
    return (failure as StartFailure).message;
  };
  const copy = (): string => {
    const folder = temporaryFolder('data');
    cpSync(sound, folder, { recursive: true });
    return folder;
  };

  it.each(
    Object.keys(FILES).flatMap((what) => Object.keys(SPOIL).map((how) => [what as keyof typeof FILES, how] as const)),
  )('of %s %s names it, and the next start works without it', async (what, how) => {
    const folder = copy();
    const file = join(folder, FILES[what]);
    SPOIL[how]?.(file);
    const message = await failureOf(folder);
    expect(message).toMatch(/cannot be read \(.+\)\. Remove that file to start again\. .*lost/);
    expect(message).toContain(`the local ${what} in ${file}`);
    expect(message).not.toMatch(/\bport\b/);
    rmSync(file);
    await (await startEngines({ folder, ports: PORTS, engine: 'dynoxide' })).stop();
  });

  it.each(Object.entries(FILES))('of %s is a folder names the path', async (_, name) => {
    const folder = copy();
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `${name}${end}`), { force: true });
    mkdirSync(join(folder, name));
    expect(await failureOf(folder)).toBe(
      `${join(folder, name)} is not a file, but local data is stored under this name. Move it away`,
    );
  });

  it.each(Object.entries(FILES))('of %s is locked names it, and advises no removal', async (_, name) => {
    const folder = copy();
    const other = new DatabaseSync(join(folder, name));
    other.exec('BEGIN IMMEDIATE');
    const message = await failureOf(folder);
    other.close();
    expect(message).toContain(join(folder, name));
    expect(message).toMatch(/another program|other programs that use the file/);
    expect(message).not.toContain('remove');
    await (await startEngines({ folder, ports: PORTS, engine: 'dynoxide' })).stop();
  });

  // Root may read every file, so the test cannot run as root.
  if (process.getuid?.() !== 0)
    it.each(Object.entries(FILES))('of %s cannot be read names it, and advises no removal', async (_, name) => {
      const folder = copy();
      chmodSync(join(folder, name), 0o000);
      const message = await failureOf(folder);
      expect(message).toContain(`${join(folder, name)} cannot be written`);
      expect(message).not.toContain('remove');
    });
});
