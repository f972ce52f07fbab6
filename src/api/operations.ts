/** `/v1/operations`: what is paused, broken or full; pause and resume. */
import { type Context, Hono } from 'hono';
import { type Operation, operationNamed } from '../domain/config/resolved.ts';
import { type OperationName, operationOf, type Target } from '../domain/ids.ts';
import { askResumeOperation, askResumeTarget, pauseOperation, pauseTarget } from '../steps/slots/pauses.ts';
import { slotsOf } from '../steps/slots/room.ts';
import type { Problem } from '../util/problems.ts';
import type { ApiDeps } from './deps.ts';
import { badRequest, readOptionalObject, readTarget, readText, takesQuery, unknownFields } from './input.ts';
import { expectTarget } from './known-target.ts';
import { operationDetails, operationView, pauseView } from './operation-views.ts';
import { HttpProblem } from './problem.ts';

/** Targets that wait for room are looked at no further. */
const WAITING_SHOWN = 100;
/** Characters of a reason at the most: it is written with every change of its row. */
export const REASON_MAX = 200;

export const operationRoutes = (deps: ApiDeps): Hono => {
  const { config, locks } = deps;
  const routes = new Hono();

  routes.get('/', takesQuery(), async (context) => {
    const operations = await Promise.all(
      Object.values(config.operations).map(async (each) => (await look(deps, each)).view),
    );
    return context.json({ operations });
  });

  routes.get('/:name', takesQuery(), async (context) => {
    const { view, details } = await look(deps, named(deps, context));
    return context.json({ ...view, ...details });
  });

  routes.post('/:name/pause', takesQuery(), async (context) => {
    const operation = named(deps, context);
    const { target, reason } = await readRequest(deps, context, operation.operation, ['target', 'reason']);
    if (target !== undefined) {
      const { pause, again } = await pauseTarget(deps, target, reason);
      return context.json({ operation: operation.operation, target, paused: pauseView(pause), alreadyPaused: again });
    }
    const { again } = await pauseOperation(deps, operation.operation, reason);
    return context.json({ ...(await look(deps, operation)).view, alreadyPaused: again });
  });

  routes.post('/:name/resume', takesQuery(), async (context) => {
    const operation = named(deps, context);
    const { target } = await readRequest(deps, context, operation.operation, ['target']);
    if (target !== undefined) {
      const resuming = await askResumeTarget(deps, target);
      const { paused } = await locks.read(target);
      const shown = { operation: operation.operation, target, ...(paused ? { paused: pauseView(paused) } : {}) };
      return context.json({ ...shown, resuming }, resuming ? 202 : 200);
    }
    const resuming = await askResumeOperation(deps, operation.operation);
    return context.json({ ...(await look(deps, operation)).view, resuming }, resuming ? 202 : 200);
  });

  return routes;
};

const look = async (deps: ApiDeps, operation: Operation) => {
  const { operations } = deps;
  const [state, waiting] = await Promise.all([
    operations.read(operation.operation),
    operations.waiting(operation.operation, WAITING_SHOWN),
  ]);
  const pages = await slotsOf(deps, operation.operation, state, operation.concurrency.total ?? 0, false);
  const slots = pages.flatMap((page) => page.slots);
  return {
    view: operationView(operation, state, slots, waiting, WAITING_SHOWN),
    details: operationDetails(operation, slots, waiting),
  };
};

/** @throws HttpProblem */
const named = ({ config }: ApiDeps, context: Context): Operation => {
  const name = context.req.param('name') ?? '';
  const operation = operationNamed(config, name);
  if (operation) return operation;
  const known = Object.keys(config.operations).join(', ');
  throw new HttpProblem(404, `there is no operation ${JSON.stringify(name.slice(0, 100))}: configured are ${known}`);
};

/** The Target that is meant, if it is not the whole operation, and why. @throws HttpProblem */
const readRequest = async (
  deps: ApiDeps,
  context: Context,
  operation: OperationName,
  known: readonly string[],
): Promise<{ readonly target?: Target; readonly reason?: string }> => {
  const body = readOptionalObject(await readText(context));
  const problems = [...unknownFields(body, known), ...reasonProblems(body)];
  if (problems.length > 0) throw badRequest(problems);
  const reason = body.reason === undefined ? {} : { reason: body.reason as string };
  if (!Object.hasOwn(body, 'target')) return reason;
  const target = readTarget(body.target);
  if (operationOf(target) !== operation)
    throw badRequest([{ path: 'target', reason: `is a Target of ${operationOf(target)}, not of ${operation}` }]);
  // A pause would make a row of one that is mistyped.
  await expectTarget(deps, target);
  return { target, ...reason };
};

const reasonProblems = ({ reason }: Record<string, unknown>): Problem[] => {
  if (reason === undefined) return [];
  const isFit = typeof reason === 'string' && reason !== '' && reason.length <= REASON_MAX && reason.isWellFormed();
  return isFit ? [] : [{ path: 'reason', reason: `must be well-formed text of 1 to ${REASON_MAX} characters` }];
};
