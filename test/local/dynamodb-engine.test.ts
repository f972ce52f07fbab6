import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, ListTablesCommand, ResourceInUseException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localClients } from '../../tools/local/clients.ts';
import { startDynamoDB } from '../../tools/local/dynamodb-engine.ts';
import { javaProblem } from '../../tools/local/dynamodb-local.ts';
import { freePort } from '../../tools/local/free-port.ts';
import { startGuardedProxy } from '../../tools/local/guarded-proxy.ts';
import { RESTARTS_A_MINUTE } from '../../tools/local/keep-running.ts';
import { NOTHING_MAY_BE_MISSING } from '../backends/missing.ts';
import { eventually } from '../end-to-end/flow.ts';
import { killEngine } from './kill-engine.ts';

const TABLE = { TableName: 'Kept' };

describe('the local DynamoDB', () => {
  let folder: string;
  const ends: (() => Promise<unknown>)[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'groupage-dynamodb-'));
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
    rmSync(folder, { recursive: true, force: true });
  });

  it.for([
    ['dynoxide', RESTARTS_A_MINUTE],
    ['DynamoDB Local', 1],
  ] as const)(
    '%s keeps acknowledged writes when it is killed (%i times), and restarts',
    async ([name, times], context) => {
      const missing = name === 'DynamoDB Local' ? await javaProblem() : undefined;
      if (missing && !NOTHING_MAY_BE_MISSING) return context.skip(missing);
      const restarts: string[] = [];
      const engine = await startDynamoDB({ port: 0, folder, engine: name, onRestart: (what) => restarts.push(what) });
      ends.push(engine.stop);
      const { dynamodb } = localClients({ dynamodb: engine.endpoint });
      const create = new CreateTableCommand({
        ...TABLE,
        KeySchema: [{ AttributeName: 'Id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'Id', AttributeType: 'S' }],
        BillingMode: 'PAY_PER_REQUEST',
      });
      // On a busy machine, the first answer may take longer than the client waits. Its second try then finds the table.
      await dynamodb.send(create).catch((cause) => {
        if (!(cause instanceof ResourceInUseException)) throw cause;
      });
      const acknowledged: string[] = [];
      let isOver = false;
      const write = async (writer: number): Promise<void> => {
        for (let n = 0; !isOver; n += 1) {
          const Id = `${writer}-${n}`;
          const isTaken = dynamodb.send(new PutCommand({ ...TABLE, Item: { Id } })).then(
            () => true,
            // The kill came during the write, and the restart may take longer than the client's retries.
            () => false,
          );
          if (await isTaken) acknowledged.push(Id);
        }
      };
      const writers = Array.from({ length: 4 }, (_, n) => write(n));
      for (let kills = 1; kills <= times; kills += 1) {
        const before = acknowledged.length;
        await eventually(() => acknowledged.length > before + 50);
        expect(await killEngine(folder)).toBe(true);
        await eventually(() => restarts.length === kills);
      }
      isOver = true;
      await Promise.all(writers);
      for (const Id of acknowledged)
        expect((await dynamodb.send(new GetCommand({ ...TABLE, Key: { Id }, ConsistentRead: true }))).Item).toEqual({
          Id,
        });
    },
  );

  it('lets requests wait while it restarts', async () => {
    const port = await freePort();
    const dynamodb = `http://127.0.0.1:${port}`;
    let settle = (): void => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const patient = localClients({ dynamodb, dynamodbSettled: () => settled });
    const request = patient.dynamodb.send(new ListTablesCommand());
    // Without this wait, the patient client would fail too.
    await expect(localClients({ dynamodb }).dynamodb.send(new ListTablesCommand())).rejects.toThrow('ECONNREFUSED');
    const engine = await startDynamoDB({ port: 0 });
    ends.push(engine.stop);
    // The engine has an address that is unknown before its start.
    ends.push((await startGuardedProxy(port, engine.endpoint)).stop);
    settle();
    expect((await request).TableNames).toEqual([]);
  });

  it('waits for its port, and reports a port that stays in use', async () => {
    const port = await freePort();
    const server = await new Promise<Server>((resolve) => {
      const listening = createServer().listen(port, '127.0.0.1', () => resolve(listening));
    });
    // On the shared address; dynoxide has an address of its own.
    const options = { port, folder, engine: 'DynamoDB Local' } as const;
    await expect(startDynamoDB(options)).rejects.toThrow(`port ${port} of 127.0.0.1 is in use`);
    const starting = startDynamoDB(options);
    server.close();
    ends.push((await starting).stop);
  });
});
