/** `/v1/targets`: what waits where, who leads it; and flush. */
import { Hono } from 'hono';
import { COUNT_LIMIT, flush } from '../batching/flush.ts';
import type { OperationName } from '../batching/ids.ts';
import type { ApiDeps } from './deps.ts';
import { readChoice, readObject, readPaging, readTarget } from './input.ts';
import { HttpProblem } from './problem.ts';
import { targetView } from './views.ts';

export const targetRoutes = (deps: ApiDeps): Hono => {
  const { config, locks, waiting, machine } = deps;
  const routes = new Hono();

  routes.get('/', async (context) => {
    const operations = Object.keys(config.operations);
    const { limit, cursor } = readPaging(context, 100, 50);
    const asked = context.req.query('operation');
    const position = parsePosition(cursor) ?? { operation: asked ?? operations[0] };
    const operation = readChoice('operation', position.operation, operations) as OperationName;
    const page = await locks.targets(operation, limit, position.cursor);
    const targets = await Promise.all(
      page.items.map(async (target) => {
        const [glance, count] = await Promise.all([locks.glance(target), waiting.count(target, COUNT_LIMIT)]);
        return targetView(target, glance, count, COUNT_LIMIT, machine.now());
      }),
    );
    const next = page.cursor
      ? { operation, cursor: page.cursor }
      : asked
        ? undefined
        : nextOperation(operations, operation);
    return context.json({ targets, ...(next ? { cursor: printPosition(next) } : {}) });
  });

  routes.post('/flush', async (context) => {
    const target = readTarget(readObject(await context.req.text()).target);
    const count = await flush(deps, target);
    if (count === undefined)
      throw new HttpProblem(404, `there is no Target ${JSON.stringify(target)}: no task of it was ever registered`);
    return context.json({ target, waiting: count }, 202);
  });

  return routes;
};

/** The list goes through the operations one after the other: a page's cursor says in which of them it ended. */
interface Position {
  readonly operation: string | undefined;
  readonly cursor?: string;
}

const nextOperation = (operations: readonly string[], operation: string): Position | undefined => {
  const next = operations[operations.indexOf(operation) + 1];
  return next === undefined ? undefined : { operation: next };
};

const printPosition = ({ operation, cursor }: Position): string =>
  `${operation}${cursor === undefined ? '' : `.${cursor}`}`;

const parsePosition = (text: string | undefined): Position | undefined => {
  if (text === undefined) return undefined;
  const [operation, cursor] = text.split('.', 2);
  return { operation, ...(cursor ? { cursor } : {}) };
};
