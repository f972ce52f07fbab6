/** An API on stores in memory, whose answers are checked against their descriptions. */
import { api } from '../../src/api/app.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { batchIdOf, type LimitName } from '../../src/domain/ids.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { register } from '../../src/steps/register/register.ts';
import { aConfig, aPolicy, aRetry, operationName, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from '../steps/step-kit.ts';
import { committed } from './ajv.ts';
import { asDescribed } from './documented-api.ts';

const vendor = { calls: 5, weight: 100, per: 60_000, burst: 2, key: ['depot'], concurrency: { calls: 2, weight: 90 } };
const config: Config = {
  ...aConfig(
    {
      batch: aPolicy({ maxSize: 4, maxWait: 60_000 }),
      concurrency: { perTarget: 2, total: 1 },
      retry: aRetry({ immediate: 0 }),
    },
    {
      operation: operationName('broken'),
      limits: ['vendor' as LimitName],
      circuit: { failures: 1, coolDown: 30_000 },
      retry: aRetry({ immediate: 0 }),
    },
  ),
  destinations: { ops: { kind: 'queue', name: 'ops' } },
  limits: Object.fromEntries([['vendor', vendor]]),
};
export const MUC = 'ship/depot=MUC';

/** The operations and statuses that were answered so far, such as `getTask 200`. */
export const seen = new Set<string>();

/** An API on stores in memory. Each of its answers is checked against its description. */
export const started = (deps: (kit: StepKit) => Partial<Parameters<typeof api>[0]> = () => ({})) => {
  const kit = stepKit(memoryStores(), config);
  // The items that these tests name have no tokens.
  kit.mode = 'warn';
  let made = 0;
  const newId = () => {
    made += 1;
    return `new-${made}`;
  };
  const app = api({ ...kit, newId, onError: () => {}, openApi: () => committed('openapi.json'), ...deps(kit) });
  const ask = async (route: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method = '', path = ''] = route.split(' ');
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const init = { method, headers, ...(text === undefined ? {} : { body: text }) };
    const response = await app.request(`http://api.example/v1${path}`, init);
    const type = response.headers.get('content-type');
    const exchange = {
      method,
      path: `/v1${path}`,
      body: text,
      status: response.status,
      type,
      text: await response.text(),
    };
    seen.add(`${asDescribed(exchange)} ${response.status}`);
    return { status: response.status, ...JSON.parse(exchange.text) };
  };
  /** Sends tasks, and registers them. */
  const send = async (...tasks: readonly object[]) => {
    const { status } = await ask('POST /tasks', {
      tasks: tasks.map((task) => ({ operation: 'ship', payload: { depot: 'MUC' }, ...task })),
    });
    const bodies = kit.sent.registered.splice(0);
    await register(
      kit,
      bodies.map((body, n) => ({ messageId: `message-${n}`, body })),
    );
    return status;
  };
  /** Seals the waiting tasks of a Target as the leader's batch of a round. */
  const seal = async (where: string, round = 1) => {
    await electLeader(kit, { kind: 'elect', target: target(where) });
    const batch = batchIdOf(target(where), 1, round);
    await finishBatch(kit, target(where), batch);
    return batch;
  };
  return { kit, ask, send, seal };
};

/** The event of the end is never recorded as sent. */
export const neverSent = (kit: StepKit) => ({ fanOuts: { ...kit.fanOuts, forgetEvent: async () => {} } });
