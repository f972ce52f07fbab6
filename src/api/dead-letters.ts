/** `/v1/dead-letters`: how many messages nobody works off, and sending them again. */
import { Hono } from 'hono';
import { hasDestinations } from '../domain/callbacks/callback.ts';
import type { Millis } from '../domain/ids.ts';
import type { LetterQueue } from '../ports/queues.ts';
import { InvalidCursor } from '../ports/rows.ts';
import { reviveDeadLetters, sourceQueues, type Walk, type Walked } from '../steps/repair/dead-letters.ts';
import { reviveGivenUp, reviveRefused } from '../steps/repair/refused-letters.ts';
import type { ApiDeps } from './deps.ts';
import {
  badRequest,
  cursorProblems,
  dryRunProblems,
  isDryRun,
  readOptionalObject,
  readText,
  takesQuery,
  unknownFields,
} from './input.ts';
import { HttpProblem } from './problem.ts';

/** How long one request sends letters again: half of its function's time, so that what was begun ends in it. */
const REDRIVE_TIME: Millis = 10_000;
/** After so many that could not be sent a request ends: each has a reason, and Lambda answers with 6 MB at the most. */
const SKIPPED_MAX = 200;

const AT_ONCE = (): number => 0;

export const deadLetterRoutes = (deps: ApiDeps): Hono => {
  const { deadLetters, machine } = deps;
  const queues: readonly LetterQueue[] = [
    ...sourceQueues(deps.config),
    ...(hasDestinations(deps.config) ? (['given-up'] as const) : []),
    'rejected',
  ];
  const routes = new Hono();

  routes.get('/', takesQuery(), async (context) => {
    const counts = await Promise.all(queues.map((queue) => deadLetters.count(queue)));
    return context.json({ queues: queues.map((queue, index) => ({ queue, messages: counts[index] })) });
  });

  routes.post('/:queue/redrive', takesQuery(), async (context) => {
    const queue = queueNamed(queues, context.req.param('queue'));
    const { dryRun, cursor } = readRedrive(await readText(context));
    if (dryRun) {
      const left = await deadLetters.count(queue);
      return context.json({ dryRun, redriven: left, skipped: [], left });
    }
    const now = machine.now();
    const began = cursor === undefined ? now : parseCursor(cursor);
    const mayGoOn = (skipped: number): boolean => skipped < SKIPPED_MAX && machine.now() < now + REDRIVE_TIME;
    const walk = { began, mayGoOn };
    const { revived, skipped, isDone } = await reviveIn(deps, queue, walk);
    const next = isDone ? {} : { cursor: printCursor(began) };
    return context.json({ redriven: revived, skipped, left: await deadLetters.count(queue), ...next }, 202);
  });

  return routes;
};

const reviveIn = (deps: ApiDeps, queue: LetterQueue, walk: Walk): Promise<Walked> => {
  if (queue === 'rejected') return reviveRefused(deps, walk);
  if (queue === 'given-up') return reviveGivenUp(deps, walk);
  return reviveDeadLetters(deps, queue, walk, AT_ONCE);
};

/** @throws HttpProblem */
const queueNamed = (queues: readonly LetterQueue[], name: string): LetterQueue => {
  const queue = queues.find((each) => each === name);
  if (!queue) throw new HttpProblem(404, `there is no queue ${JSON.stringify(name)}: there are ${queues.join(', ')}`);
  return queue;
};

/** An empty body is for real. @throws HttpProblem */
const readRedrive = (text: string): { readonly dryRun: boolean; readonly cursor: string | undefined } => {
  const body = readOptionalObject(text);
  const { cursor } = body;
  const problems = [...unknownFields(body, ['dryRun', 'cursor']), ...dryRunProblems(body), ...cursorProblems(body)];
  if (problems.length > 0) throw badRequest(problems);
  return { dryRun: isDryRun(body), cursor: cursor as string | undefined };
};

/** Where a walk of several requests stands: since when it goes. What is sent later than that is not part of it. */
const printCursor = (began: Millis): string => String(began);

/** @throws InvalidCursor */
const parseCursor = (cursor: string): Millis => {
  if (!/^\d{1,15}$/.test(cursor)) throw new InvalidCursor();
  return Number(cursor);
};
