import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { itAtLength } from '../at-length.ts';
import { bodyOf, CREDENTIALS, cloudFormation, type Served, serve, signatureProblem } from './aws.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/node/bin/node');
const REGION = 'eu-test-1';

const TASK = {
  id: 'one',
  operation: 'o',
  target: 't',
  status: 'created',
  attempts: 0,
  createdAt: '2026-01-01T00:00:00Z',
};
const ANSWERS = { targets: [], tasks: [], batches: [], ids: ['one'], ...TASK };

interface Called {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly body: string;
}

describe('groupage with --stack', () => {
  let folder: string;
  let api: Served;
  let aws: Served;
  let called: Called[] = [];
  let refusal: readonly [string, string] | undefined;
  let forbidden: string | undefined;
  let limited: string | undefined;
  let redirect: string | undefined;
  let answers: unknown;
  let service: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'groupage-stack-'));
    api = await serve(async (request, response) => {
      const body = await bodyOf(request);
      called.push({ method: request.method, path: request.url, body });
      const problem = forbidden ?? signatureProblem(request, body, REGION, service);
      const [status, answer] = problem ? [403, { Message: problem }] : [redirect ? 307 : 200, answers];
      if (limited !== undefined) {
        const problem = { type: 'about:blank', title: 'Forbidden', status: 403, detail: limited };
        response.writeHead(403, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
        return;
      }
      const location = redirect ? { location: redirect } : {};
      response.writeHead(status, { 'content-type': 'application/json', ...location }).end(JSON.stringify(answer));
    });
    aws = await cloudFormation(
      {
        'Groupage-dev-Flow': { status: 'UPDATE_IN_PROGRESS', outputs: { ApiUrl: `${api.url}/` } },
        'Groupage-far-Flow': { status: 'CREATE_COMPLETE', outputs: { ApiUrl: 'https://far.invalid/' } },
        Gateway: {
          status: 'CREATE_COMPLETE',
          outputs: { ApiUrl: 'https://a1b2c3.execute-api.eu-test-1.amazonaws.com/' },
        },
        Other: { status: 'CREATE_COMPLETE', outputs: { BucketName: 'b' } },
        Shop: {
          status: 'CREATE_COMPLETE',
          outputs: {
            ApiUrl: `${api.url}/first/`,
            OrdersApiUrl: `${api.url}/orders/`,
            OrdersRegisterQueueUrl: 'https://sqs.invalid/1/orders',
            // An output of another application.
            PaymentsApiUrl: 'https://payments.invalid/',
          },
        },
        Young: { status: 'CREATE_IN_PROGRESS', outputs: {} },
      },
      () => refusal,
    );
  });
  beforeEach(() => {
    called = [];
    refusal = undefined;
    forbidden = undefined;
    limited = undefined;
    redirect = undefined;
    answers = ANSWERS;
    service = 'lambda';
  });
  afterAll(() => {
    api.close();
    aws.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (args: readonly string[], environment: Record<string, string | undefined> = {}) =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const child = spawn(NODE, [join(ROOT, 'bin/groupage.ts'), ...args], {
        cwd: folder,
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
          HOME: folder,
          AWS_EC2_METADATA_DISABLED: 'true',
          AWS_ENDPOINT_URL_CLOUDFORMATION: aws.url,
          AWS_ACCESS_KEY_ID: CREDENTIALS.id,
          AWS_SECRET_ACCESS_KEY: CREDENTIALS.secret,
          AWS_SESSION_TOKEN: CREDENTIALS.token,
          AWS_REGION: REGION,
          ...environment,
        },
      });
      const [out, err]: [string[], string[]] = [[], []];
      child.stdout.on('data', (data) => out.push(String(data)));
      child.stderr.on('data', (data) => err.push(String(data)));
      child.on('close', (code) => resolve({ code, out: out.join(''), err: err.join('') }));
    });

  it('finds the API in the outputs, and signs for Lambda', async () => {
    expect(await run(['targets', '--stack', 'Groupage-dev-Flow'])).toEqual({
      code: 0,
      out: 'no Targets yet: no task has been registered\n',
      err: '',
    });
    expect(called).toEqual([{ method: 'GET', path: '/v1/targets?limit=51', body: '' }]);
  });

  it('signs bodies, and all characters in paths and queries', async () => {
    const stack = ['--stack', 'Groupage-dev-Flow'];
    expect(await run(['send', 'ship', '{"depot":"MÜC \' *"}', '--id', 'one', ...stack])).toMatchObject({
      code: 0,
      out: 'one\n',
    });
    expect(called[0]?.body).toBe('{"operation":"ship","id":"one","payload":{"depot":"MÜC \' *"}}');
    const odd = "ship/depot=A B+C&D=É'(x)*!~%2F";
    expect(await run(['batches', '--target', odd, ...stack])).toMatchObject({ code: 0, err: '' });
    expect(new URL(called[1]?.path ?? '', 'http://x').searchParams.get('target')).toBe(odd);
    expect((await run(['status', odd, '--json', ...stack])).code).toBe(0);
    expect(decodeURIComponent(called[2]?.path ?? '')).toBe(`/v1/tasks/${odd}`);
  });

  it('sends signed requests to another address with --api', async () => {
    const there = ['--stack', 'Groupage-far-Flow', '--api', `${api.url}/by/proxy/v1`];
    expect(await run(['targets', ...there])).toMatchObject({ code: 0, err: '' });
    expect(called[0]?.path).toBe('/by/proxy/v1/targets?limit=51');
    expect((await run(['targets', '--api', `${api.url}/v1`])).err).toContain('403');
  });

  it("signs for API Gateway if the stack's API is there", async () => {
    service = 'execute-api';
    const there = ['targets', '--stack', 'Gateway', '--api', `${api.url}/v1`];
    expect(await run(there)).toMatchObject({ code: 0, err: '' });
    forbidden = 'Forbidden';
    expect(await run(there)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/need the permission execute-api:Invoke on the API.* through its VPC endpoints/),
    });
  });

  it('accepts AWS_DEFAULT_REGION too', async () => {
    const environment = { AWS_REGION: undefined, AWS_DEFAULT_REGION: REGION };
    expect(await run(['targets', '--stack', 'Groupage-dev-Flow'], environment)).toMatchObject({ code: 0 });
  });

  it('finds one of several instances in a stack by its id', async () => {
    expect(await run(['targets', '--stack', 'Shop'])).toMatchObject({ code: 0, err: '' });
    expect(await run(['targets', '--stack', 'Shop/Orders'])).toMatchObject({ code: 0, err: '' });
    expect(called.map(({ path }) => path)).toEqual(['/first/v1/targets?limit=51', '/orders/v1/targets?limit=51']);
    expect(await run(['targets', '--stack', 'Shop/Returns'])).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /no output ReturnsApiUrl.*: Groupage-dev-Flow, Groupage-far-Flow, Gateway, Shop, Shop\/Orders$/m,
      ),
    });
  });

  it('lists the stacks with an API if the named one has none', async () => {
    const stacks = 'stacks with a Groupage API: Groupage-dev-Flow, Groupage-far-Flow, Gateway, Shop, Shop/Orders';
    for (const [name, words] of [
      ['nope', `there is no stack nope in ${REGION}; ${stacks}`],
      ['Other', `the stack Other (CREATE_COMPLETE) has no output ApiUrl`],
      ['Young', 'the stack is still being created'],
    ] as const)
      expect(await run(['targets', '--stack', name])).toMatchObject({ code: 1, err: expect.stringContaining(words) });
  });

  it('names a missing profile, and those that exist', async () => {
    const stack = ['targets', '--stack', 'Groupage-dev-Flow'];
    const none = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined, AWS_SESSION_TOKEN: undefined };
    const config = '[default]\nregion = eu-test-1\n[profile dev]\nregion = eu-test-1\n[sso-session corp]\n';
    const credentials = `[keys]\naws_access_key_id = ${CREDENTIALS.id}\naws_secret_access_key = ${CREDENTIALS.secret}\naws_session_token = ${CREDENTIALS.token}\n`;
    writeFileSync(join(folder, 'config'), config);
    writeFileSync(join(folder, 'credentials'), credentials);
    const files = {
      ...none,
      AWS_CONFIG_FILE: join(folder, 'config'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
    };
    for (const environment of [files, { ...files, AWS_REGION: undefined }])
      expect(await run(stack, { ...environment, AWS_PROFILE: 'nope' })).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^AWS_PROFILE is "nope", but .*\(existing profiles: default, dev, keys\)/),
      });
    expect((await run(stack, { ...none, AWS_PROFILE: 'nope' })).err).toContain('.aws/config');
    expect(await run(stack, { ...files, AWS_PROFILE: 'keys' })).toMatchObject({ code: 0 });
  });

  it('says what is wrong with credentials or region, and how to set them', async () => {
    const stack = ['targets', '--stack', 'Groupage-dev-Flow'];
    const none = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined, AWS_SESSION_TOKEN: undefined };
    expect(await run(stack, none)).toMatchObject({ code: 1, err: expect.stringContaining('AWS_PROFILE=NAME') });
    expect(await run(stack, { AWS_REGION: undefined })).toMatchObject({
      code: 1,
      err: expect.stringContaining('Set AWS_REGION'),
    });
    for (const [code, words] of [
      ['ExpiredToken', /credentials have expired/],
      ['InvalidClientTokenId', /does not accept these credentials/],
      ['AccessDenied', /lack the permission to read the stack Groupage-dev-Flow/],
    ] as const) {
      refusal = [code, 'says AWS'];
      expect(await run(stack)).toEqual({ code: 1, out: '', err: expect.stringMatching(words) });
    }
  });

  it('names the permission that a refused request lacks', async () => {
    const stack = ['targets', '--stack', 'Groupage-dev-Flow'];
    for (const [message, words] of [
      ['Forbidden', /lambda:InvokeFunctionUrl and lambda:InvokeFunction/],
      ['The security token included in the request is expired', /credentials have expired/],
      ['Signature expired: 20260101T000000Z is now earlier than …', /clock/],
    ] as const) {
      forbidden = message;
      expect(await run(stack)).toEqual({ code: 1, out: '', err: expect.stringMatching(words) });
    }
    forbidden = undefined;
    expect(await run(stack, { AWS_SECRET_ACCESS_KEY: 'wrong' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('the signature does not match'),
    });
  });

  it('repeats the reason of the API if a right is too small', async () => {
    limited = 'nothing was done: role ops has the right read, and this call needs the right operate';
    expect(await run(['flush', 'ship/depot=MUC', '--stack', 'Groupage-dev-Flow'])).toEqual({
      code: 1,
      out: '',
      err: `${limited}\n`,
    });
  });

  it('follows no redirect to another host, so that no credentials leak', async () => {
    const reached: string[] = [];
    const other = await serve((request, response) => {
      reached.push(request.url ?? '');
      response.end('{}');
    });
    redirect = `${other.url}/v1/tasks?key=s3cret`;
    try {
      const sent = await run(['send', 'ship', '{"depot":"MUC"}', '--stack', 'Groupage-dev-Flow']);
      expect(sent).toEqual({ code: 1, out: '', err: expect.stringContaining(`a redirect to ${other.url}/v1/tasks.`) });
      expect(reached).toEqual([]);
    } finally {
      other.close();
    }
  });

  it('refuses an invalid stack name, also an empty one', async () => {
    for (const name of ['', 'a_b', 'a b', '1a', 'x'.repeat(129), 'Shop/', 'Shop/a/b', 'Shop/a-b'])
      expect(await run(['targets', '--stack', name])).toEqual({
        code: 2,
        out: '',
        err: expect.stringContaining('--stack takes the name or ARN of a stack'),
      });
  });

  it('says what went wrong in any call to AWS', async () => {
    const stack = ['targets', '--stack', 'Groupage-dev-Flow'];
    for (const [environment, words] of [
      [{ AWS_REGION: 'bad region' }, /"bad region" is not an AWS region/],
      [{ AWS_ENDPOINT_URL_CLOUDFORMATION: 'nonsense' }, /AWS_ENDPOINT_URL/],
    ] as const)
      expect(await run(stack, environment)).toEqual({ code: 1, out: '', err: expect.stringMatching(words) });
    for (const [code, words] of [
      ['OptInRequired', /region "eu-test-1" or the service is not enabled/],
      ['ValidationError', /^cannot read the stack Groupage-dev-Flow \(says AWS\)$/m],
      ['SomethingNew', /^cannot read the stack Groupage-dev-Flow \(says AWS\)$/m],
    ] as const) {
      refusal = [code, 'says AWS'];
      expect(await run(stack)).toEqual({ code: 1, out: '', err: expect.stringMatching(words) });
    }
  });

  itAtLength('says so if the answer does not come from the API', async () => {
    const stack = ['--stack', 'Groupage-dev-Flow'];
    const words = { code: 1, err: expect.stringContaining('Check that this is the URL of a Groupage API') };
    for (const other of [{}, null, [], { targets: [{}], tasks: 'none', ids: [1], batches: {} }]) {
      answers = other;
      for (const args of [
        ['targets'],
        ['batches', '--target', 't'],
        ['status', 'one'],
        ['send', 'ship', '{}'],
        ['watch'],
      ])
        expect(await run([...args, ...stack]), args.join(' ')).toMatchObject({ out: '', ...words });
    }
    writeFileSync(join(folder, 'tasks.jsonl'), '{}\n{}\n');
    expect(await run(['send', 'ship', '--file', 'tasks.jsonl', ...stack])).toMatchObject({
      out: '0 sent, 0 refused\n',
      ...words,
    });
  });
});
