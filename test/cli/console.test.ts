import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { About } from '../../tools/console/server/shapes.ts';
import { listen } from '../console/listen.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type AwsService, awsError, startAwsService } from '../factories/aws-service.ts';
import { bodyOf, CREDENTIALS, cloudFormation, type Served, serve, signatureProblem } from './aws.ts';
import { NODE, ROOT } from './groupage.ts';

const REGION = 'eu-test-1';
const STACK = 'Groupage-dev-Flow';

/** The output of the command and of its server, on both streams. */
interface Running {
  readonly said: () => string;
  /** The URL of the page. */
  readonly site: () => Promise<string>;
  readonly ended: Promise<number | null>;
  stop(): void;
}

describe('groupage console', () => {
  let folder: string;
  let api: Served;
  let aws: Served;
  let cloudWatch: AwsService;
  let called: { readonly method: string | undefined; readonly path: string; readonly body: string }[] = [];
  let forbidden: string | undefined;
  const running: Running[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'groupage-console-'));
    api = await serve(async (request, response) => {
      const body = await bodyOf(request);
      const path = request.url ?? '';
      called.push({ method: request.method, path, body });
      const problem = forbidden ?? signatureProblem(request, body, REGION);
      response
        .writeHead(problem ? 403 : 200, { 'content-type': 'application/json', 'groupage-read-units': '2' })
        .end(JSON.stringify(problem ? { Message: problem } : { operations: [{ operation: 'ship' }], asked: path }));
    });
    aws = await cloudFormation({ [STACK]: { status: 'CREATE_COMPLETE', outputs: { ApiUrl: `${api.url}/` } } });
    cloudWatch = await startAwsService();
  });
  beforeEach(() => {
    called = [];
    forbidden = undefined;
    cloudWatch.behave(() => ({ body: { MetricDataResults: [], Messages: [] } }));
  });
  afterAll(async () => {
    for (const each of running) each.stop();
    api.close();
    aws.close();
    await cloudWatch.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (args: readonly string[], environment: NodeJS.ProcessEnv = {}): Running => {
    const child = spawn(NODE, [join(ROOT, 'bin/groupage.ts'), 'console', ...args], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        AWS_EC2_METADATA_DISABLED: 'true',
        AWS_ENDPOINT_URL_CLOUDFORMATION: aws.url,
        AWS_ENDPOINT_URL_CLOUDWATCH: cloudWatch.options.endpoint,
        AWS_ACCESS_KEY_ID: CREDENTIALS.id,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secret,
        AWS_SESSION_TOKEN: CREDENTIALS.token,
        AWS_REGION: REGION,
        ...environment,
      },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        said += String(data);
      });
    const started: Running = {
      said: () => said,
      site: () => eventually(() => /http:\/\/127\.0\.0\.1:\d+\//.exec(said)?.[0]),
      ended: new Promise((resolve) => child.once('close', resolve)),
      stop: () => child.kill('SIGINT'),
    };
    running.push(started);
    return started;
  };

  it('serves the page for a deployed stack, and signs the requests to the API', async () => {
    const { site, said, stop, ended } = start(['--stack', STACK, '--port', '0']);
    const url = await site();
    expect(await (await fetch(url)).text()).toContain('<!doctype html>');
    const about = (await (await fetch(`${url}console/about`)).json()) as About;
    expect(about).toMatchObject({
      source: { kind: 'stack', name: STACK, region: REGION },
      operations: ['ship'],
      metrics: { from: 'cloudwatch', everySeconds: 60 },
    });
    expect(about.metrics.dollarsPerHour).toBeGreaterThan(0);
    const page = await listen(url, ['/v1/targets?prefix=ship%2Fdepot%3DM%C3%9C']);
    await eventually(() => page.last('answer')?.status === 200 && page.last('usage') && page.last('metrics'));
    expect(page.last('usage')).toMatchObject({ readUnits: 2 });
    const sent = await fetch(`${url}v1/tasks?x=a%20b`, { method: 'POST', body: '{"depot":"MÜC"}' });
    expect(sent.status).toBe(200);
    expect(called.filter(({ method }) => method === 'POST')).toEqual([
      { method: 'POST', path: '/v1/tasks?x=a%20b', body: '{"depot":"MÜC"}' },
    ]);
    // The page's queries are repeated at once after the POST, and no more after the page has closed.
    await eventually(() => called.filter(({ path }) => path.startsWith('/v1/targets')).length === 2);
    await page.close();
    const everything = JSON.stringify([said(), about, page.heard, await (await fetch(url)).text()]);
    for (const secret of [CREDENTIALS.secret, CREDENTIALS.token]) expect(everything).not.toContain(secret);
    stop();
    expect(await ended).toBe(0);
    expect(said()).toMatch(/\nStopped\.\n$/);
  });

  it('shows in the page why charts are missing; the rest works', async () => {
    cloudWatch.behave(() =>
      awsError(400, 'AccessDeniedException', 'not authorized to perform cloudwatch:GetMetricData'),
    );
    const { site, stop, ended } = start(['--stack', STACK, '--port', '0']);
    const page = await listen(await site(), ['/v1/operations']);
    await eventually(() => page.last('trouble') && page.last('answer'));
    expect(page.last('trouble')).toEqual({
      path: 'metrics',
      reason: expect.stringContaining('cloudwatch:GetMetricData'),
    });
    forbidden = 'The security token included in the request is expired';
    const refused = await fetch(`${await site()}v1/tasks`);
    expect([refused.status, await refused.text()]).toEqual([502, expect.stringContaining('credentials have expired')]);
    await page.close();
    stop();
    expect(await ended).toBe(0);
  });

  it.each([
    [['--stack', 'nope'], {}, 1, /there is no stack nope in eu-test-1/],
    [['--stack', STACK], { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }, 1, /no AWS credentials were found/],
    [['--api', 'http://127.0.0.1:59999/v1'], {}, 1, /the API does not answer \(connect ECONNREFUSED/],
    [['--api', 'nonsense'], {}, 2, /--api takes an http or https URL/],
    [['--port', '70000'], {}, 2, /Give a number from 0 to 65535/],
    [[], {}, 1, /no local stack of yours runs in this folder/],
  ] as const)('exits with the reason: %j %j', async (args, environment, code, words) => {
    const { ended, said } = start(args, environment);
    expect([await ended, said()]).toEqual([code, expect.stringMatching(words)]);
    expect(said()).not.toContain('    at ');
  });

  it('names the port that is in use', async () => {
    const { port } = new URL(api.url);
    const { ended, said } = start(['--stack', STACK, '--port', port]);
    expect([await ended, said()]).toEqual([1, expect.stringContaining(`port ${port} is in use`)]);
  });

  it('reports that the credentials lack the permission to call the API', async () => {
    forbidden = 'Forbidden';
    const { ended, said } = start(['--stack', STACK, '--port', '0']);
    expect([await ended, said()]).toEqual([1, expect.stringContaining('lambda:InvokeFunctionUrl')]);
  });

  it("prints the URL of a local stack's own console", async () => {
    mkdirSync(join(folder, '.groupage'));
    const local = { api: 'http://127.0.0.1:4500/v1', console: 'http://127.0.0.1:4500/', pid: process.pid };
    writeFileSync(join(folder, '.groupage', 'local.json'), JSON.stringify(local));
    const { ended, said } = start([]);
    expect([await ended, said()]).toEqual([0, 'http://127.0.0.1:4500/\n']);
  });
});
