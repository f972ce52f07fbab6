/** Readers of settings or logs must not see payloads, results, answers, tokens, credentials, or keys in addresses. */
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { Logger } from '@aws-lambda-powertools/logger';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AwsClients } from '../../src/aws/clients.ts';
import { ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { startStack } from '../../tools/local/stack.ts';
import { backendOf } from '../backends/here.ts';
import { eventually, type Flow, flowOn } from '../end-to-end/flow.ts';
import { configFrom, operationAt } from '../end-to-end/operations.ts';
import { startTestDownstream } from '../factories/downstream.ts';
import { aConfig, aDownstream } from '../factories/factories.ts';
import { functionsOf } from '../infrastructure/rules/flow.ts';
import { ours } from '../infrastructure/templates.ts';

describe('the template', () => {
  const url = 'https://parcels.example/batch?key=s3cret';
  const template = ours('prod', aConfig({ downstream: aDownstream({ url }) }));

  it('gives functions the names of tables and queues by reference, and nothing else', () => {
    for (const [id, { Environment }] of functionsOf(template)) {
      const { NODE_OPTIONS, ...others } = (Environment as { Variables: Record<string, unknown> }).Variables;
      expect([id, NODE_OPTIONS]).toEqual([id, '--enable-source-maps']);
      expect(Object.values(ENVIRONMENT)).toEqual(expect.arrayContaining(Object.keys(others)));
      for (const value of Object.values(others)) expect(typeof value).toBe('object');
    }
  });

  it('contains operation names in alarms and dashboards only, and no other setting', () => {
    const text = JSON.stringify(template);
    for (const part of ['s3cret', 'parcels.example', 'depot']) expect(text).not.toContain(part);
    for (const [id, resource] of Object.entries(template.Resources))
      if (!resource.Type.startsWith('AWS::CloudWatch::')) expect(JSON.stringify([id, resource])).not.toContain('ship');
  });
});

/** Powertools' logger as in the functions, with its lines kept. */
class KeptLogger extends Logger {
  readonly written: string[] = [];
  constructor() {
    super({ serviceName: 'groupage' });
    const kept = new Writable({ write: (chunk, _, done) => done(void this.written.push(String(chunk))) });
    // A private field, which has no setter.
    Object.assign(this, { console: new Console(kept) });
  }
}

/** Part of payloads, results, answers, broken messages and addresses. */
const SECRET = 'hunter2';
const FORGED = 'x","level":"ERROR","message":"forged"}\n{"level":"ERROR","message":"forged"}\n';

describe('the log of every kind of failure', () => {
  let flow: Flow;
  const logger = new KeptLogger();
  const tokens = new Set<string>();

  /** Uses secret credentials, and keeps every written token, whose holder could act as a leader. */
  const watched = (clients: AwsClients): AwsClients => {
    for (const { config } of [clients.dynamodb, clients.sqs])
      config.credentials = async () => ({ accessKeyId: `A${SECRET}`, secretAccessKey: SECRET, sessionToken: SECRET });
    clients.dynamodb.middlewareStack.add(
      (next) => (args) => {
        const { ExpressionAttributeValues = {} } = args.input as {
          ExpressionAttributeValues?: Record<string, unknown>;
        };
        for (const name of [':token', ':nextToken', ':by']) {
          const value = ExpressionAttributeValues[name];
          if (typeof value === 'string') tokens.add(value);
        }
        return next(args);
      },
      { step: 'initialize', priority: 'low' },
    );
    return clients;
  };

  beforeAll(async () => {
    const retry = { immediate: 0, maxAttempts: 2, minDelay: '0s', maxDelay: '0s' } as const;
    const downstream = await startTestDownstream(({ text, target, attempt }) => {
      const how = target.split('=')[1] ?? '';
      if (how === 'page' || attempt > 1)
        return { status: 200, body: `<p>${text}</p>`, headers: { 'content-type': `text/${SECRET}` } };
      if (how === 'fails') return { status: 500, body: text };
      if (how === 'refused') return { status: 422, body: text };
      if (how === 'foreign') return { status: 200, body: { batchItemFailures: [{ itemIdentifier: SECRET }] } };
      // No task may have such an id.
      if (how === 'strange') return { status: 200, body: { results: [{ id: `${SECRET} ${text}` }] } };
      const { items } = JSON.parse(text) as { items: { id: string }[] };
      const status = how === 'item' ? 'failed' : how === 'odd' ? SECRET : 'retry';
      const results = items.map(({ id }) => ({ id, status, error: { code: SECRET, message: SECRET } }));
      return {
        status: 200,
        body: {
          results: how === 'fine' ? items.map(({ id }) => ({ id, status: 'succeeded', result: SECRET })) : results,
        },
      };
    });
    const errors: string[] = [];
    const stack = await startStack({
      config: configFrom({
        operations: {
          ship: operationAt(`${downstream.url}?key=${SECRET}`, { retry, circuit: null, batch: { maxWait: '0ms' } }),
          gone: operationAt(`http://127.0.0.1:9/batch?key=${SECRET}`, { retry, batch: { maxWait: '0ms' } }),
        },
      }),
      apiPort: 0,
      ports: { dynamodb: 0, sqs: 0 },
      host: { log: logger },
      clients: watched,
      onError: (error) => errors.push(error.message),
    });
    flow = flowOn(backendOf(stack, errors), downstream, 'ship');
  });
  afterAll(() => flow?.stop());

  const sendRaw = (queue: Parameters<Flow['queue']>[0], MessageBody: string) =>
    flow.backend.clients.sqs.send(new SendMessageCommand({ QueueUrl: flow.queue(queue), MessageBody }));
  const post = (body: string) => flow.backend.api('/tasks', { method: 'POST', body });

  it('has one JSON object a line, and no text of others', async () => {
    const payload = (depot: string) => ({ depot, password: SECRET });
    const depots = ['fine', 'fails', 'refused', 'item', 'odd', 'again', 'page', 'foreign', 'strange', FORGED];
    const ids = await flow.send([
      ...depots.map(payload),
      { operation: 'gone', payload: payload('gone'), correlationId: SECRET },
    ]);
    const broken = [
      `{"operation":"ship","payload":{"password":${SECRET}}}`,
      `${SECRET}`,
      JSON.stringify({ operation: 'ship', payload: { password: SECRET } }),
      JSON.stringify({ operation: 'ship', payload: payload('fine'), callback: `http://${SECRET}` }),
      JSON.stringify({ operation: FORGED, payload: payload('fine') }),
      JSON.stringify({ operation: 'ship', id: ids[0], payload: payload('another') }),
    ];
    for (const body of broken) await sendRaw('registerQueue', body);
    for (const body of broken) await post(body);
    for (const queue of ['electQueue', 'groupQueue', 'batchQueue'] as const)
      await sendRaw(queue, `{"${SECRET}":"${SECRET}"}`);
    await sendRaw('electQueue', '{"target":"unknown/of=nobody"}');
    await flow.settled(ids);
    const inner = 4;
    await eventually(() => lines().filter((line) => line.includes('message failed')).length >= inner);
    await eventually(async () => (await flow.rejected()).length >= broken.length);

    const events = lines().map((line) => JSON.parse(line) as { level: string; message: string; queue?: string });
    // A message's id is useful only with its queue.
    const queues = events.flatMap(({ message, queue }) => (message.startsWith('message failed') ? [queue] : []));
    const inners = (['batchQueue', 'electQueue', 'groupQueue'] as const).map((name) =>
      flow.queue(name).split('/').at(-1),
    );
    expect(new Set(queues)).toEqual(new Set(inners));
    const seen = new Set(events.map(({ message }) => message));
    for (const message of [
      'registered',
      'rejected',
      'led',
      'sealed',
      'called',
      'foreign-results',
      'postponed',
      'finished',
      'message failed; it comes back',
    ])
      expect(seen).toContain(message);
    expect(seen).not.toContain('forged');
    expect(tokens.size).toBeGreaterThan(depots.length);
    for (const secret of [SECRET, ...tokens]) expect(lines().filter((line) => line.includes(secret))).toEqual([]);
    // The secret was there: readers of the tasks see it.
    const shown = await Promise.all(ids.map(async (id) => JSON.stringify(await flow.task(id))));
    for (const text of shown) expect(text).toContain(SECRET);
  });

  const lines = (): string[] =>
    logger.written
      .join('')
      .split('\n')
      .filter((line) => line !== '');
});
