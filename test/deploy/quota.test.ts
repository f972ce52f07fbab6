import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { batchVisibility } from '../../src/domain/config/resolved.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { LEADER_VISIBILITY, MAX_RECEIVES, MINUTE, REGISTER_VISIBILITY } from '../../src/domain/timings.ts';
import { smallQuota } from '../../tools/deploy/quota.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/node/bin/node');
const XMLNS = 'https://cloudformation.amazonaws.com/doc/2010-05-15/';

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

/** A refusal of Lambda, as its REST protocol has it. */
const refusal: Reply = {
  status: 403,
  type: 'AccessDeniedException',
  body: JSON.stringify({ Message: 'User: dev is not authorized to perform: lambda:GetAccountSettings' }),
};
const settings = (quota: number, free = quota): Reply => ({
  status: 200,
  body: JSON.stringify({ AccountLimit: { ConcurrentExecutions: quota, UnreservedConcurrentExecutions: free } }),
});

describe('npm run deploy', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /** An account without stacks, whose bootstrap is too old: a deployment stops there, after all that it checks before. */
  const replyTo = (path: string, body: string, lambda: Reply | 'none'): Reply | 'none' => {
    if (path.includes('/account-settings')) return lambda;
    if (body.includes('GetCallerIdentity'))
      return {
        status: 200,
        body: '<GetCallerIdentityResponse><GetCallerIdentityResult><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>',
      };
    if (body.includes('DescribeStacks'))
      return {
        status: 400,
        body: `<ErrorResponse xmlns="${XMLNS}"><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack does not exist</Message></Error></ErrorResponse>`,
      };
    return { status: 200, body: '{"Parameter":{"Value":"5"}}' };
  };

  const deployed = async (lambda: Reply | 'none'): Promise<{ readonly code: unknown; readonly output: string }> => {
    server = createServer(async (request, response) => {
      const reply = replyTo(request.url ?? '', await text(request), lambda);
      if (reply === 'none') return;
      response.writeHead(reply.status, reply.type === undefined ? {} : { 'x-amzn-errortype': reply.type });
      response.end(reply.body);
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const cwd = temporaryFolder('quota');
    const env = {
      PATH: process.env.PATH,
      HOME: cwd,
      AWS_REGION: 'eu-test-1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    };
    return new Promise((resolve) => {
      execFile(NODE, [join(ROOT, 'bin/deploy.ts'), 'deploy', '--stage', 'prod'], { cwd, env }, (error, out, err) =>
        resolve({ code: error?.code ?? 0, output: out + err }),
      );
    });
  };
  const stopsLater = { code: 1, output: expect.stringContaining('was bootstrapped for an older CDK') };

  it('says what a quota of ten means for tasks and how to raise it, and goes on', async () => {
    const ended = await deployed(settings(10));
    expect(ended).toEqual(stopsLater);
    const [note = ''] = ended.output.split('\n').filter((line) => line.includes('concurrent'));
    expect(note).toMatch(/^Note: this account allows 10 concurrent Lambda executions in eu-test-1, and .* up to 350\./);
    expect(note).toMatch(/tasks wait, .*a dead letter\. The sweep sends dead letters again .*late, but not lost\./);
    expect(note).toMatch(
      /aws service-quotas request-service-quota-increase .* --desired-value 1000 --region eu-test-1$/,
    );
  });

  it('says nothing about a large quota', async () => {
    const ended = await deployed(settings(1_000));
    expect(ended).toEqual(stopsLater);
    expect(ended.output).not.toMatch(/quota|concurrent/);
  });

  it.each([
    [
      'without the right',
      refusal,
      /permission to read the quota .*lambda:GetAccountSettings.*docs\/how-to\/deploy\.md/,
    ],
    ['if Lambda does not answer', 'none', /AWS does not respond in region "eu-test-1"/],
    ['if Lambda fails', { status: 500, body: '{}' }, /cannot read the quota/],
    ['if Lambda reports none', { status: 200, body: '{}' }, /did not report it/],
  ] as const)('says in one line that the quota was not checked %s, and goes on', async (_, reply, reason) => {
    const ended = await deployed(reply);
    expect(ended).toEqual(stopsLater);
    const lines = ended.output.split('\n').filter((line) => line.includes('was not checked'));
    expect(lines).toEqual([
      expect.stringMatching(/^Note: the quota of concurrent Lambda executions was not checked: /),
    ]);
    expect(lines[0]).toMatch(reason);
  });
});

describe('a quota', () => {
  const configOf = (more = {}) => {
    const ship = { target: ['depot'], downstream: { kind: 'lambda', function: 'carrier' } };
    const config = parseConfig({ operations: { ship }, ...more });
    if (!config.ok) throw new Error('the configuration is invalid');
    return config.value;
  };
  const note = (quota: number, free: number, config = configOf()) =>
    smallQuota({ ConcurrentExecutions: quota, UnreservedConcurrentExecutions: free }, 'eu-test-1', config);

  it('is large enough for all functions at once, or not', () => {
    expect(note(350, 350)).toBeUndefined();
    expect(note(349, 349)).toContain('allows 349 ');
    const config = configOf({ destinations: { ops: { kind: 'queue', name: 'ops' } } });
    expect(note(359, 359, config)).toContain('up to 360');
    expect(note(360, 360, config)).toBeUndefined();
  });

  it('does not count what other functions reserve', () => {
    expect(note(1_000, 200)).toMatch(/allows 200 .*\(1000, of which 800 are reserved\).* --desired-value 1800 /);
    expect(note(10, 10)).not.toContain('reserved');
  });

  it('is in the docs, with the times until a message becomes a dead letter', () => {
    const page = readFileSync(join(ROOT, 'docs/how-to/deploy.md'), 'utf8').replaceAll('\n', ' ');
    expect(page).toContain('up to 350 times at once (360 with destinations)');
    expect(page).toContain('an elect or group message in 5 minutes, a register message in 10, a batch message in 15');
    expect(readFileSync(join(ROOT, 'docs/how-to/operate.md'), 'utf8')).toContain('at most 360 (register 100,');
    const visibilities = [LEADER_VISIBILITY, REGISTER_VISIBILITY, batchVisibility(configOf())];
    expect(visibilities.map((each) => (MAX_RECEIVES * each) / MINUTE)).toEqual([5, 10, 15]);
  });
});
