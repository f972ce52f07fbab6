/** `/v1/operations`: the state of operations; pause and resume. */
import type { Hono } from 'hono';
import { type Operation, operationNamed } from '../../domain/config/resolved.ts';
import { settingsFor } from '../../domain/config/settings.ts';
import { type OperationName, operationOf, type Target } from '../../domain/ids.ts';
import { slotsOf } from '../../steps/slots/operation-slots.ts';
import { askResumeOperation, askResumeTarget, pauseOperation, pauseTarget } from '../../steps/slots/pauses.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { badRequest } from '../shared/input.ts';
import { expectTarget } from '../shared/known-target.ts';
import { HttpProblem } from '../shared/problem.ts';
import { OPERATION_CALLS } from './requests.ts';
import { readUnderWay, underWayView } from './under-way.ts';
import { operationDetails, operationView, pauseView } from './views.ts';

/** Maximum number of waiting Targets that one request reads. */
const WAITING_SHOWN = 100;

export const operationRoutes = (deps: ApiDeps): Hono => {
  const { config, locks } = deps;
  return serve(deps, OPERATION_CALLS, {
    listOperations: async ({ context }) => {
      const operations = await Promise.all(
        Object.values(config.operations).map(async (each) => (await look(deps, each)).view),
      );
      return context.json({ operations });
    },

    getOperation: async ({ context, part }) => {
      const { view, details } = await look(deps, named(deps, part('name')));
      return context.json({ ...view, ...details });
    },

    getConfiguration: async ({ context, part }) => {
      const operation = named(deps, part('name'));
      return context.json({ operation: operation.operation, settings: settingsFor(config, operation) });
    },

    pauseOperation: async ({ context, part, body }) => {
      const configured = named(deps, part('name'));
      const { operation } = configured;
      const { target, reason } = await body();
      if (target !== undefined) {
        await expectIn(deps, operation, target);
        const { pause, again } = await pauseTarget(deps, target, reason);
        return context.json({ operation, target, paused: pauseView(pause), alreadyPaused: again });
      }
      const { again } = await pauseOperation(deps, operation, reason);
      return context.json({ ...(await look(deps, configured)).view, alreadyPaused: again });
    },

    resumeOperation: async ({ context, part, body }) => {
      const configured = named(deps, part('name'));
      const { operation } = configured;
      const { target } = await body();
      if (target !== undefined) {
        await expectIn(deps, operation, target);
        const resuming = await askResumeTarget(deps, target);
        const { paused } = await locks.read(target);
        const shown = { operation, target, ...(paused ? { paused: pauseView(paused) } : {}) };
        return context.json({ ...shown, resuming }, resuming ? 202 : 200);
      }
      const resuming = await askResumeOperation(deps, operation);
      return context.json({ ...(await look(deps, configured)).view, resuming }, resuming ? 202 : 200);
    },
  });
};

const look = async (deps: ApiDeps, operation: Operation) => {
  const { operations } = deps;
  const [state, waiting, underWay] = await Promise.all([
    operations.read(operation.operation),
    operations.waiting(operation.operation, WAITING_SHOWN),
    readUnderWay(deps, operation.operation),
  ]);
  const pages = await slotsOf(deps, operation.operation, state, operation.concurrency.total ?? 0, false);
  const slots = pages.flatMap((page) => page.slots);
  return {
    view: operationView(operation, state, slots, waiting, WAITING_SHOWN, underWayView(underWay)),
    details: operationDetails(operation, slots, waiting),
  };
};

/** @throws HttpProblem */
const named = ({ config }: ApiDeps, name: string): Operation => {
  const operation = operationNamed(config, name);
  if (operation) return operation;
  const known = Object.keys(config.operations).join(', ');
  throw new HttpProblem(404, `there is no operation ${JSON.stringify(name.slice(0, 100))}: configured are ${known}`);
};

/** Checks that a Target exists and belongs to the operation. @throws HttpProblem */
const expectIn = async (deps: ApiDeps, operation: OperationName, target: Target): Promise<void> => {
  if (operationOf(target) !== operation)
    throw badRequest([{ path: 'target', reason: `is a Target of ${operationOf(target)}, not of ${operation}` }]);
  // Without this check, pausing a mistyped Target would create a row for it.
  await expectTarget(deps, target);
};
