/**
 * The example's downstream. Each call (`POST /jobs` with a list of `inputs`) runs a job, and is answered when the job is done. A job
 * takes long to start. Calls beyond the limit of concurrent jobs are answered 429.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** The runner's record of a job. Times are in ms since the epoch. */
interface Job {
  readonly startedAt: number;
  /** The time at which the job had started up. */
  readyAt?: number;
  endedAt?: number;
  readonly inputs: number;
}

export interface Runner {
  readonly url: string;
  readonly jobs: readonly Job[];
  /** Number of calls that were refused because too many jobs were running. */
  readonly refused: number;
  readonly mostAtOnce: number;
  stop(): Promise<void>;
}

export interface RunnerOptions {
  /** Time to start a job, and time per input, in ms. */
  readonly startUp: number;
  readonly perInput: number;
  /** Maximum number of concurrent jobs. */
  readonly cap: number;
}

export const startRunner = async ({ startUp, perInput, cap }: RunnerOptions): Promise<Runner> => {
  const jobs: Job[] = [];
  const tally = { refused: 0, mostAtOnce: 0 };
  const running = (): number => jobs.filter(({ endedAt }) => endedAt === undefined).length;
  const run = async (inputs: readonly { readonly id: string }[]): Promise<object> => {
    const job: Job = { startedAt: Date.now(), inputs: inputs.length };
    jobs.push(job);
    tally.mostAtOnce = Math.max(tally.mostAtOnce, running());
    await setTimeout(startUp);
    job.readyAt = Date.now();
    await setTimeout(perInput * inputs.length);
    job.endedAt = Date.now();
    return { inputs: inputs.map(({ id }) => ({ key: id, status: 'succeeded' })) };
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { inputs } = JSON.parse(await textOf(request)) as { inputs?: { id: string }[] };
    if (request.method !== 'POST' || !inputs) return send(response, 404, { error: 'POST /jobs with inputs' });
    if (running() >= cap) {
      tally.refused += 1;
      return send(response, 429, { error: `the limit of ${cap} concurrent jobs is reached` });
    }
    return send(response, 200, await run(inputs));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((cause: unknown) => send(response, 500, { error: String(cause) }));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jobs`,
    jobs,
    get refused() {
      return tally.refused;
    },
    get mostAtOnce() {
      return tally.mostAtOnce;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
