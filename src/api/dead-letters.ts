/** `/v1/dead-letters`: how many messages nobody works off, and sending them again. */
import { Hono } from 'hono';
import { reviveAll, WORKING_QUEUES } from '../batching/dead-letters.ts';
import type { Millis } from '../batching/ids.ts';
import type { LetterQueue } from '../ports.ts';
import type { ApiDeps } from './deps.ts';
import { badRequest, dryRunProblems, isDryRun, readObject, unknownFields } from './input.ts';
import { HttpProblem } from './problem.ts';

const QUEUES: readonly LetterQueue[] = [...WORKING_QUEUES, 'rejected'];

/** How long one request sends letters again: half of its function's time, so that what was begun ends in it. */
const REDRIVE_TIME: Millis = 10_000;

export const deadLetterRoutes = (deps: ApiDeps): Hono => {
  const { deadLetters, machine } = deps;
  const routes = new Hono();

  routes.get('/', async (context) => {
    const counts = await Promise.all(QUEUES.map((queue) => deadLetters.count(queue)));
    return context.json({ queues: QUEUES.map((queue, index) => ({ queue, messages: counts[index] })) });
  });

  routes.post('/:queue/redrive', async (context) => {
    const queue = queueNamed(context.req.param('queue'));
    if (readDryRun(await context.req.text())) {
      const left = await deadLetters.count(queue);
      return context.json({ dryRun: true, redriven: left, skipped: [], left });
    }
    const until = machine.now() + REDRIVE_TIME;
    const how = { delayOf: () => 0, mayGoOn: () => machine.now() < until };
    const { revived, left: skipped } = await reviveAll(deps, queue, how);
    return context.json({ redriven: revived, skipped, left: await deadLetters.count(queue) }, 202);
  });

  return routes;
};

/** @throws HttpProblem */
const queueNamed = (name: string): LetterQueue => {
  const queue = QUEUES.find((each) => each === name);
  if (!queue) throw new HttpProblem(404, `there is no queue ${JSON.stringify(name)}: there are ${QUEUES.join(', ')}`);
  return queue;
};

/** An empty body is for real. @throws HttpProblem */
const readDryRun = (text: string): boolean => {
  const body = text === '' ? {} : readObject(text);
  const problems = [...unknownFields(body, ['dryRun']), ...dryRunProblems(body)];
  if (problems.length > 0) throw badRequest(problems);
  return isDryRun(body);
};
