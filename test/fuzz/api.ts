/** The HTTP API for fuzzing, on stores in memory. Every answer is checked against the rules for all answers. */
import { monotonicFactory } from 'ulid';
import { expect } from 'vitest';
import { api } from '../../src/api/app.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import { register } from '../../src/steps/register/register.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import { aConfig, operationName } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { asDescribed } from '../published/documented-api.ts';
import { stepKit } from '../steps/step-kit.ts';

export const config = aConfig({}, { operation: operationName('plain'), keys: [] });
/** The stores are emptied for each input: making them anew takes longer than a request. */
const tables = emptyTables();
export const kit = stepKit(memoryStores(tables), config);
const failures: unknown[] = [];
const newId = monotonicFactory();
const app = api({ ...kit, newId, onError: (cause) => void failures.push(cause) });

/** @param bodies of tasks that are registered before. */
export const startWith = async (...bodies: readonly string[]): Promise<void> => {
  for (const table of [
    tables.tasks,
    tables.payloads,
    tables.waiting,
    tables.locks,
    tables.batches,
    tables.operations,
    tables.waitingTargets,
    tables.fanOuts,
    tables.fanOutNodes,
    tables.reservations,
    tables.listAppends,
    tables.listSegments,
    tables.listJobs,
    tables.listTriggers,
    tables.listResults,
  ])
    table.clear();
  for (const list of [...Object.values(kit.sent), kit.events, failures]) list.length = 0;
  await register(
    kit,
    bodies.map((body, n) => ({ messageId: `message-${n}`, body })),
  );
};

/** The form of every refusal (RFC 9457). */
const expectProblem = (status: number, type: string | null, text: string): void => {
  const problem = parseJson(text);
  if (type !== 'application/problem+json' || !problem.ok || !isObject(problem.value))
    throw new Error(`${status} ${type}: ${text}`);
  expect(problem.value).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) });
  const { errors = [] } = problem.value as { errors?: { path: unknown; reason: unknown }[] };
  if (status === 400 && errors.length === 0) throw new Error(`400 without errors: ${text}`);
  for (const { path, reason } of errors) expect([typeof path, typeof reason]).toEqual(['string', 'string']);
};

/** Sends a request, and returns its status. A 5xx status or a call of `onError` is a crash. */
export const send = async (path: string, init?: RequestInit) => {
  const response = await app.request(`http://127.0.0.1${path}`, init);
  const text = await response.text();
  if (failures.length > 0 || response.status >= 500)
    throw new Error(`${response.status}: ${failures.map(String).join()}`);
  if (response.status >= 400 && init?.method?.toUpperCase() !== 'HEAD')
    expectProblem(response.status, response.headers.get('content-type'), text);
  // If an encoded path matches a route in more than one way (a `%72edrive`), the router decides.
  if (!path.includes('%') && init?.method?.toUpperCase() !== 'HEAD')
    asDescribed({
      method: init?.method ?? 'GET',
      path,
      body: await new Response(init?.body ?? '').text(),
      status: response.status,
      type: response.headers.get('content-type'),
      text,
    });
  return { status: response.status, text };
};
