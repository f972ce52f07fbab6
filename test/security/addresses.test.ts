/** No text in a message is used as an address: functions send requests only to addresses of the configuration. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { aConfig } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const ROOT = join(import.meta.dirname, '../..');
const METADATA = 'http://169.254.169.254/latest/meta-data/';

describe('a register message', () => {
  it('with an address as callback is refused without naming it', () => {
    for (const callback of [METADATA, { url: METADATA }, [METADATA], 'arn:aws:sqs:eu-central-1:111111111111:theirs']) {
      const body = JSON.stringify({ operation: 'ship', payload: { depot: 'MUC' }, callback });
      const parsed = parseRegisterMessage(aConfig(), { messageId: 'm', body });
      const reason = expect.stringMatching(
        /^must be the name of a (?:configured )?destination(?:; none is configured)?$/,
      );
      expect(parsed).toEqual({ ok: false, problems: [{ path: 'callback', reason }] });
    }
  });

  it('with an address in any other field is refused by the name of the field', () => {
    const fields = [
      'callbackUrl',
      'callbacks',
      'url',
      'uri',
      'endpoint',
      'downstream',
      'destination',
      'replyTo',
      'webhook',
      'topic',
      'queueUrl',
      'arn',
      'headers',
      'host',
      'proxy',
    ];
    for (const field of fields)
      for (const value of [METADATA, { url: METADATA }, [METADATA], 'arn:aws:sqs:eu-central-1:111111111111:theirs']) {
        const body = JSON.stringify({ operation: 'ship', payload: { depot: 'MUC' }, [field]: value });
        expect(parseRegisterMessage(aConfig(), { messageId: 'm', body })).toEqual({
          ok: false,
          problems: [{ path: field, reason: 'is not a field of a register message' }],
        });
      }
  });

  it('keeps an address in its payload as text', () => {
    const payload = JSON.stringify({ depot: METADATA, callback: METADATA, downstream: { url: METADATA } });
    const parsed = parseRegisterMessage(aConfig(), {
      messageId: 'm',
      body: `{"operation":"ship","payload":${payload}}`,
    });
    expect(parsed).toMatchObject({
      ok: true,
      value: { payload, target: `ship/depot=${encodeURIComponent(METADATA)}` },
    });
  });
});

describe.each([
  { what: 'a fan-out', path: '/v1/fan-outs' },
  { what: 'a deferred list', path: '/v1/lists' },
])('a request to open $what', ({ path }) => {
  it('with an address as callback is refused without naming it', async () => {
    const app = api({ ...stepKit(memoryStores()), newId: () => 'new', onError: () => {} });
    for (const callback of [METADATA, { url: METADATA }, [METADATA], 'arn:aws:sqs:eu-central-1:111111111111:theirs']) {
      const answer = await app.request(path, { method: 'POST', body: JSON.stringify({ callback }) });
      const reason = expect.stringMatching(
        /^must be the name of a (?:configured )?destination(?:; none is configured)?$/,
      );
      expect([answer.status, await answer.json()]).toMatchObject([400, { errors: [{ path: 'callback', reason }] }]);
    }
  });
});

describe('the configuration', () => {
  it('accepts http and https URLs only, without a password', () => {
    for (const url of [
      'file:///etc/passwd',
      'ftp://host/',
      'gopher://host/',
      'data:,x',
      'javascript:1',
      '//host/',
      'http://me:s3cret@host/',
    ]) {
      const parsed = parseConfig({ operations: { ship: { target: [], downstream: { kind: 'http', url } } } });
      expect([url, parsed.ok ? [] : parsed.problems.map(({ path }) => path)]).toEqual([
        url,
        ['operations.ship.downstream.url'],
      ]);
    }
  });
});

describe('a Lambda function', () => {
  /** The folders whose files are bundled into functions. */
  const IN_FUNCTIONS = [
    'lambdas',
    'src/api',
    'src/aws',
    'src/destinations',
    'src/domain',
    'src/downstreams',
    'src/steps',
  ];
  /** Calls and modules that could open a connection to an address, or start a program. */
  const BY_ADDRESS =
    /\bfetch\(|= fetch\b|\bnew (?:WebSocket|EventSource)\b|'node:(?:https?2?|net|tls|dgram|dns|child_process)[/']|'undici'/;

  it('sends requests only to AWS and to configured addresses', () => {
    const files = IN_FUNCTIONS.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(folder, file)),
    );
    expect(files.length).toBeGreaterThan(50);
    const asking = files.filter((file) => BY_ADDRESS.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(asking).toEqual([
      'src/destinations/http.ts',
      'src/downstreams/http-auth.ts',
      'src/downstreams/http.ts',
      'src/downstreams/lambda.ts',
    ]);
    const inThem = (pattern: RegExp) =>
      asking.flatMap((file) => readFileSync(join(ROOT, file), 'utf8').match(pattern) ?? []);
    // `send` is `fetch`, unless groupage try records the requests.
    expect(inThem(/(?<!\.)\b(?:fetch|send)\((?!\))[^,]*/g)).toEqual(['fetch(url', 'send(tokenUrl', 'send(url']);
    // An agent only keeps or closes the connections of the SDK.
    expect(inThem(/import .* 'node:https?'/g)).toEqual([
      "import { Agent } from 'node:http'",
      "import { Agent as HttpsAgent } from 'node:https'",
    ]);
  });
});
