import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localClients } from '../../tools/local/clients.ts';
import { startDynamoDB } from '../../tools/local/dynamodb-engine.ts';
import { javaProblem } from '../../tools/local/dynamodb-local.ts';
import { type SqsEngine, startSqs } from '../../tools/local/sqs-engine.ts';
import { NOTHING_MAY_BE_MISSING } from '../backends/missing.ts';

/** An address of this machine that other machines could reach. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((each) => each && !each.internal && each.family === 'IPv4')?.address;

/** Reaches a listener on all addresses, but not one on 127.0.0.1. */
const ANOTHER = '127.0.0.2';

const answersFrom = async (address: string, endpoint: string): Promise<boolean> =>
  fetch(`http://${address}:${new URL(endpoint).port}/`, { signal: AbortSignal.timeout(2_000) }).then(
    () => true,
    () => false,
  );

describe('the local SQS', () => {
  let folder: string;
  let engine: SqsEngine;
  let sqs: SQSClient;
  let queue: string;

  const start = async (): Promise<void> => {
    engine = await startSqs({ port: 0, folder });
    ({ sqs } = localClients({ sqs: engine.endpoint }));
    queue = `${engine.endpoint}/000000000000/q`;
    await sqs.send(new CreateQueueCommand({ QueueName: 'q' }));
  };
  const receive = async (): Promise<Message[]> =>
    (
      await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: queue, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] }),
      )
    ).Messages ?? [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'groupage-sqs-'));
    await start();
  });
  afterEach(async () => {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows a released message again at once, also after a restart', async () => {
    await sqs.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: 'released' }));
    for (let times = 1; times <= 3; times += 1) {
      const [message] = await receive();
      expect([times, message?.Body]).toEqual([times, 'released']);
      const entry = { Id: '0', ReceiptHandle: message?.ReceiptHandle ?? '', VisibilityTimeout: 0 };
      const command = new ChangeMessageVisibilityBatchCommand({ QueueUrl: queue, Entries: [entry] });
      expect((await sqs.send(command)).Failed ?? []).toEqual([]);
    }
    await engine.stop();
    await start();
    expect((await receive()).map(({ Body }) => Body)).toEqual(['released']);
    expect(await receive()).toEqual([]);
  });

  it('ends one long poll for a message, and keeps the others waiting', async () => {
    const { sqs: patient } = localClients({ sqs: engine.endpoint, patient: true });
    const ended: (string | undefined)[] = [];
    const polls = Array.from({ length: 5 }, async () => {
      const poll = new ReceiveMessageCommand({ QueueUrl: queue, MaxNumberOfMessages: 10, WaitTimeSeconds: 5 });
      const { Messages: [message] = [] } = await patient.send(poll);
      ended.push(message?.Body);
    });
    const send = (MessageBody: string, DelaySeconds: number) =>
      sqs.send(new SendMessageCommand({ QueueUrl: queue, MessageBody, DelaySeconds }));
    await Promise.all([send('at once', 0), send('delayed', 2)]);
    await Promise.all(polls);
    expect(ended).toEqual(['at once', 'delayed', undefined, undefined, undefined]);
  });

  it('keeps messages over a restart, and redelivers those in flight', async () => {
    const attributes = { MessageAttributes: { A: { DataType: 'String', StringValue: '7' } } };
    await sqs.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: 'taken', ...attributes }));
    const [taken] = await receive();
    await sqs.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: 'not taken' }));
    await engine.stop();
    await start();
    const again = await receive();
    expect(again.map(({ Body }) => Body).toSorted()).toEqual(['not taken', 'taken']);
    expect(again.find(({ Body }) => Body === 'taken')).toMatchObject({
      MessageId: taken?.MessageId,
      MessageAttributes: { A: { StringValue: '7' } },
    });
  });

  it('accepts exactly the characters that SQS accepts', async () => {
    const body = 'tab\t ünï ✓ \u{1f600} \u{10fffd} \ufffd';
    await sqs.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: body }));
    expect((await receive()).map(({ Body }) => Body)).toEqual([body]);
    for (const MessageBody of ['\u0001', '\uffff'])
      await expect(sqs.send(new SendMessageCommand({ QueueUrl: queue, MessageBody }))).rejects.toThrow();
  });

  it('loses no message if the move to the dead-letter queue fails half-way', async () => {
    const policy = { deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:dead', maxReceiveCount: 1 };
    await sqs.send(new CreateQueueCommand({ QueueName: 'dead' }));
    const Attributes = { RedrivePolicy: JSON.stringify(policy), VisibilityTimeout: '0' };
    await sqs.send(new SetQueueAttributesCommand({ QueueUrl: queue, Attributes }));
    await sqs.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: 'only copy' }));
    expect(await receive()).toHaveLength(1);
    const file = new DatabaseSync(join(folder, 'fauxqs.db'));
    file.exec(
      `CREATE TRIGGER broken BEFORE INSERT ON sqs_messages WHEN NEW.queue_name = 'dead' BEGIN SELECT RAISE(ABORT, 'broken off'); END`,
    );
    expect(await receive().catch(() => 'broken off')).not.toContainEqual(
      expect.objectContaining({ Body: 'only copy' }),
    );
    file.exec('DROP TRIGGER broken');
    await engine.stop();
    file.close();
    await start();
    expect(await receive()).toEqual([]);
    const dead = `${engine.endpoint}/000000000000/dead`;
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: dead }));
    expect(Messages.map(({ Body }) => Body)).toEqual(['only copy']);
  });

  it('says what to do with a file that it cannot read', async () => {
    await engine.stop();
    writeFileSync(join(folder, 'fauxqs.db'), 'this is no database, whatever its name says');
    await expect(startSqs({ port: 0, folder })).rejects.toThrow(/fauxqs\.db cannot be read .*Remove that file/);
    writeFileSync(join(folder, 'fauxqs.db'), '');
    await start();
  });

  it('reports its own end, with the reason', async () => {
    // A thread's message and its exit may arrive in either order, so each thread ends on a signal.
    const end = new BroadcastChannel('sqs-engine.test');
    const thread = (then: string): URL =>
      new URL(
        `data:text/javascript,import { parentPort } from 'node:worker_threads'; const end = new BroadcastChannel('sqs-engine.test'); end.onmessage = () => { ${then} }; parentPort.postMessage({ endpoint: 'here' }); parentPort.once('message', () => end.close())`,
      );
    const ended = async (then: string): Promise<string> => {
      const { endpoint, died } = await startSqs({ port: 0 }, thread(then));
      expect(endpoint).toBe('here');
      end.postMessage('now');
      return died;
    };
    try {
      expect(await ended("throw new Error('broken')")).toMatch(/^fauxqs crashed \(Error: broken/);
      expect(await ended('process.exit(3)')).toBe('fauxqs crashed (exit code 3)');
      const stopped = await startSqs({ port: 0 }, thread(''));
      await stopped.stop();
      expect(await Promise.race([stopped.died, Promise.resolve('nothing')])).toBe('nothing');
    } finally {
      end.close();
    }
    const cannotStart = new URL("data:text/javascript,throw new Error('no such part')");
    await expect(startSqs({ port: 0 }, cannotStart)).rejects.toThrow(/^fauxqs did not start \(Error: no such part/);
  });

  it('keeps delays over a restart', async () => {
    await sqs.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: 'later', DelaySeconds: 2 }));
    await engine.stop();
    await start();
    expect(await receive()).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    expect((await receive()).map(({ Body }) => Body)).toEqual(['later']);
  });

  it('listens on the loopback address alone', async () => {
    expect(await answersFrom('127.0.0.1', engine.endpoint)).toBe(true);
    expect(await answersFrom(ANOTHER, engine.endpoint)).toBe(false);
    if (outside) expect(await answersFrom(outside, engine.endpoint)).toBe(false);
  });
});

describe('the local DynamoDB', () => {
  for (const engine of ['dynoxide', 'DynamoDB Local'] as const)
    it(`${engine} answers this machine alone, and allows no web page`, async (context) => {
      const missing = engine === 'DynamoDB Local' ? await javaProblem() : undefined;
      if ((missing && !NOTHING_MAY_BE_MISSING) || !outside)
        return context.skip(missing ?? 'this machine has no other address');
      const started = await startDynamoDB({ port: 0, engine });
      try {
        expect(await answersFrom(new URL(started.endpoint).hostname, started.endpoint)).toBe(true);
        expect(await answersFrom(outside, started.endpoint)).toBe(false);
        const { headers } = await fetch(started.endpoint, {
          method: 'OPTIONS',
          headers: { origin: 'https://evil.example' },
        });
        // dynoxide allows every origin, so it listens on an address that a page would not try.
        const isKnown = new URL(started.endpoint).hostname === '127.0.0.1';
        expect(isKnown && headers.get('access-control-allow-origin') === '*').toBe(false);
      } finally {
        await started.stop();
      }
      return undefined;
    });
});
