import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ApiRefused,
  ApiUnavailable,
  createFanOutClient,
  MalformedItem,
  NotAllAcked,
  NotAllAdded,
} from '../../src/client/client.ts';
import type { FanOutId } from '../../src/domain/fan-out-ids.ts';
import { progressOf } from '../../src/steps/fan-outs/progress.ts';
import { CREDENTIALS, signatureProblem } from '../cli/aws.ts';
import { type ServedApi, servedApi } from './served-api.ts';

let served: ServedApi;
beforeEach(async () => {
  served = await servedApi();
  // Random pauses become 0.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await served.stop();
});

const client = () => createFanOutClient({ api: served.url });
const all = async (items: AsyncIterable<string>): Promise<string[]> => {
  const found: string[] = [];
  for await (const item of items) found.push(item);
  return found;
};
/** The stored fan-out, with its progress. */
const stored = async (id: string) => {
  const fanOut = await served.kit.fanOuts.read(id as FanOutId);
  if (!fanOut) throw new Error(`there is no fan-out ${id}`);
  return { ...fanOut, ...(await progressOf(served.kit.fanOuts, fanOut)) };
};
/** The error that some work throws. */
const thrown = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (cause) {
    return cause;
  }
  throw new Error('nothing was thrown');
};

/** An item of no fan-out, with a token. */
const NOBODY = `nobody:0:0:${'A'.repeat(22)}`;

describe('a fan-out client', () => {
  it('opens, fills, seals and acks a fan-out', async () => {
    const { openFanOut, ack } = client();
    const fanOut = await openFanOut({ userKey: 'catalog-7', callback: 'ops', failFast: { count: 5 } });
    const items = [...(await all(fanOut.add(451))), ...(await all(fanOut.add(2)))];
    const { itemKey } = await stored(fanOut.id);
    const sent = (group: number, index: number) =>
      `${fanOut.id}:${group}:${index}:${createHmac('sha256', itemKey ?? '')
        .update(`${fanOut.id}:${group}:${index}`)
        .digest('base64url')
        .slice(0, 22)}`;
    expect([items.length, items[0], items[450], items[452]]).toEqual([453, sent(0, 0), sent(1, 0), sent(2, 1)]);
    expect(await ack(items.slice(1))).toEqual({ fanOuts: [{ id: fanOut.id, complete: false }], unknown: [] });
    expect(await fanOut.seal()).toEqual({ complete: false });
    expect(await ack([{ item: items[0] ?? '', outcome: 'failed' }, NOBODY])).toEqual({
      fanOuts: [{ id: fanOut.id, complete: true, userKey: 'catalog-7' }],
      unknown: [NOBODY],
    });
    expect(await fanOut.seal()).toEqual({ complete: true });
    expect(await stored(fanOut.id)).toMatchObject({ total: 453, succeeded: 452, failed: 1, callback: 'ops' });
  });

  it('adds each item once although requests get lost and answers come twice', async () => {
    served.fate = (n) => (['answer-lost', 503, 'request-lost', 'answer-lost'] as const)[n - 1];
    const { openFanOut, ack } = client();
    const fanOut = await openFanOut({ userKey: 'k' });
    const items = await all(fanOut.add(100_000));
    expect(new Set(items).size).toBe(100_000);
    const { unknown } = await ack(items);
    expect(unknown).toEqual([]);
    expect(await fanOut.seal()).toEqual({ complete: true });
    expect(await stored(fanOut.id)).toMatchObject({ total: 100_000, succeeded: 100_000, failed: 0 });
    expect(served.kit.sent.callbacks).toHaveLength(1);
    // Each addition was repeated with its token.
    const adds = served.asked.filter(({ path }) => path.endsWith('/items'));
    expect([adds.length, new Set(adds.map(({ body }) => body.token)).size]).toEqual([15, 3]);
  });

  it('adds items as the loop consumes them, and never holds all ids', async () => {
    const fanOut = await client().openFanOut();
    const adds = () => served.asked.filter(({ path }) => path.endsWith('/items')).length;
    const items = fanOut.add(1_000_000);
    expect(adds(), 'before the loop').toBe(0);
    let seen = 0;
    for await (const item of items) {
      seen += 1;
      if (seen === 45_000) expect([item, adds()]).toEqual([expect.stringContaining(`${fanOut.id}:99:449:`), 1]);
      if (seen === 45_001) break;
    }
    expect([adds(), (await stored(fanOut.id)).total]).toEqual([2, 90_000]);
  });

  it('continues an addition of another process by its token', async () => {
    const fanOut = await client().openFanOut({ id: 'f' });
    for await (const item of fanOut.add(90_001, { token: 'event-7' })) if (item.startsWith('f:100:7:')) break;
    expect((await stored('f')).total).toBe(90_000);
    const items = await all(client().fanOut('f').add(90_001, { token: 'event-7' }));
    expect([new Set(items).size, items.at(-1), (await stored('f')).total]).toEqual([
      90_001,
      expect.stringContaining('f:200:0:'),
      90_001,
    ]);
  });
});

describe('an addition that fails', () => {
  it('can be continued with the token in its error, without duplicates', async () => {
    const fanOut = await client().openFanOut({ id: 'f' });
    const adds = () => served.asked.filter(({ path }) => path.endsWith('/items')).length;
    served.fate = (_, request) => (request.endsWith('/items') && adds() > 1 ? 'answer-lost' : undefined);
    const seen: string[] = [];
    const error = await thrown(async () => {
      for await (const item of fanOut.add(100_000)) seen.push(item);
    });
    expect(error).toBeInstanceOf(NotAllAdded);
    const { token, added } = error as NotAllAdded;
    expect([added, seen.length, (await stored('f')).total]).toEqual([45_000, 45_000, 90_000]);
    served.fate = () => undefined;
    const items = await all(fanOut.add(100_000, { token }));
    expect([items.slice(0, 45_000), (await stored('f')).total]).toEqual([seen, 100_000]);
  });
});

describe('acks of a client', () => {
  it('stop after a refused call, and the error names those left', async () => {
    const { openFanOut, ack } = client();
    const fanOut = await openFanOut({ id: 'f' });
    const items = await all(fanOut.add(45_000));
    const calls = () => served.asked.filter(({ path }) => path.endsWith('/acks')).length;
    served.fate = (_, request) => (request.endsWith('/acks') && calls() === 2 ? 400 : undefined);
    const error = await thrown(() => ack(items));
    expect(error).toBeInstanceOf(NotAllAcked);
    const { left, read, acked, cause } = error as NotAllAcked;
    expect(cause).toBeInstanceOf(ApiRefused);
    expect([read, acked.fanOuts]).toEqual([10_000, [{ id: 'f', complete: false }]]);
    const asked = calls();
    expect(asked).toBeLessThanOrEqual(5);
    expect((await stored('f')).succeeded).toBe(read - left.length);
    served.fate = () => undefined;
    await ack([...left, ...items.slice(read)]);
    expect((await stored('f')).succeeded).toBe(45_000);
  });

  it('are sorted by group, and sent in full calls', async () => {
    const { openFanOut, ack } = client();
    const fanOut = await openFanOut({ id: 'f' });
    const items = await all(fanOut.add(4_500));
    const { ack: write } = served.kit.fanOuts;
    let writes = 0;
    served.kit.fanOuts.ack = (id, position, slots) => {
      if (position.level === 0) writes += 1;
      return write.call(served.kit.fanOuts, id, position, slots);
    };
    const dealt = items.toSorted((a, b) => (Number(a.split(':')[2]) % 7) - (Number(b.split(':')[2]) % 7));
    const progress: number[] = [];
    async function* lazily() {
      yield* dealt;
    }
    await ack(lazily(), { onProgress: (acked) => progress.push(acked) });
    const calls = served.asked
      .filter(({ path }) => path.endsWith('/acks'))
      .map(({ body }) => (body.items as []).length);
    expect([writes, calls, progress.at(-1)]).toEqual([30, [900, 900, 900, 900, 900], 4_500]);
    expect((await stored('f')).succeeded).toBe(4_500);
  });

  it('keep the first of two outcomes', async () => {
    const { openFanOut, ack } = client();
    const [item = ''] = await all((await openFanOut({ id: 'f' })).add(1));
    await ack([{ item, outcome: 'failed' }, item, { item, outcome: 'succeeded' }]);
    expect(await stored('f')).toMatchObject({ failed: 1, succeeded: 0 });
  });

  it('are refused if one item is malformed', async () => {
    for (const item of ['f:0', 'f:00:0', '', 7]) {
      const cause = await thrown(() => client().ack(['f:0:0', item as string]));
      expect(cause).toBeInstanceOf(MalformedItem);
      expect(cause).toMatchObject({ name: 'MalformedItem', item: item === 7 ? undefined : item });
    }
    expect(served.asked).toEqual([]);
  });

  it('of no items send no request', async () => {
    expect(await client().ack([])).toEqual({ fanOuts: [], unknown: [] });
    expect(served.asked).toEqual([]);
  });
});

describe('a fan-out call that fails', () => {
  it('throws the problems at once if a retry cannot help', async () => {
    const { openFanOut, fanOut } = client();
    const cause = await thrown(() => openFanOut({ id: 'a:b', callback: 'nobody' }));
    expect(cause).toBeInstanceOf(ApiRefused);
    expect(cause).toMatchObject({
      name: 'ApiRefused',
      status: 400,
      errors: [{ path: 'id' }, { path: 'callback' }],
      message: expect.stringContaining('callback is unknown: "nobody"; configured are ops'),
    });
    expect(served.asked).toHaveLength(1);
    expect(await thrown(() => fanOut('nobody').seal())).toMatchObject({ status: 404 });
    await openFanOut({ id: 'f' });
    await fanOut('f').seal();
    expect(await thrown(() => all(fanOut('f').add(1)))).toMatchObject({ name: 'ApiRefused', status: 409 });
    expect(await thrown(() => openFanOut({ id: 'f', userKey: 'other' }))).toMatchObject({ status: 409 });
  });

  it('is made seven times if the API is busy or does not answer', async () => {
    for (const [fate, status] of [
      [503, 503],
      [429, 429],
      ['answer-lost', undefined],
    ] as const) {
      served.asked.length = 0;
      served.fate = () => fate;
      const cause = await thrown(() => client().fanOut('f').seal());
      expect(cause).toBeInstanceOf(ApiUnavailable);
      expect(cause).toMatchObject({
        name: 'ApiUnavailable',
        status,
        message: expect.stringMatching(/failed in 7 attempts, the last time with: .+; repeat the same call later/),
      });
      expect(served.asked).toHaveLength(7);
    }
  });

  it('says so if the answer does not come from the API', async () => {
    const other = createFanOutClient({ api: served.url, fetch: async () => new Response('<html>') });
    expect(await thrown(() => other.openFanOut())).toMatchObject({
      name: 'ApiRefused',
      message: '200: the Groupage API does not answer like this; check the address',
    });
  });

  it('throws a RangeError on an invalid count, token or URL', async () => {
    const fanOut = client().fanOut('f');
    for (const count of [0, -1, 1.5, Number.NaN, 2 ** 53]) expect(() => fanOut.add(count)).toThrow(RangeError);
    for (const token of ['', 'x'.repeat(49), '\ud800']) expect(() => fanOut.add(1, { token })).toThrow('1 to 48');
    for (const api of [
      '',
      'api',
      'ftp://127.0.0.1/v1',
      'http://parcels.example/v1',
      'https://me:pw@api.example/v1',
      'https://a.example/?x=1',
    ])
      expect(() => createFanOutClient({ api }), api).toThrow(/^api must be an https URL/);
    expect(served.asked).toEqual([]);
  });
});

describe('fan-out requests', () => {
  const asked: { address: string; init: RequestInit }[] = [];
  const remember = (async (address: string, init: RequestInit) => {
    asked.push({ address, init });
    return Response.json({ complete: true });
  }) as typeof fetch;
  beforeEach(() => {
    asked.length = 0;
  });
  const credentials = {
    accessKeyId: CREDENTIALS.id,
    secretAccessKey: CREDENTIALS.secret,
    sessionToken: CREDENTIALS.token,
  };

  it('to a function URL are signed for its region, and follow no redirect', async () => {
    const api = 'https://abc.lambda-url.eu-north-1.on.aws/v1';
    await createFanOutClient({ api, fetch: remember, credentials }).fanOut('f').seal();
    expect(asked).toMatchObject([
      {
        address: `${api}/fan-outs/f/seal`,
        init: {
          redirect: 'manual',
          headers: {
            authorization: expect.stringMatching(
              /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d{8}\/eu-north-1\/lambda\/aws4_request,/,
            ),
            'x-amz-security-token': CREDENTIALS.token,
          },
        },
      },
    ]);
  });

  it.each([
    ['https://a1b2c3.execute-api.eu-north-1.amazonaws.com/v1', 'eu-north-1/execute-api'],
    ['https://a1b2c3-vpce-0123abcd.execute-api.cn-north-1.amazonaws.com.cn/v1', 'cn-north-1/execute-api'],
    ['https://abc.lambda-url.eu-north-1.on.aws/v1', 'eu-north-1/lambda'],
    ['https://a1b2c3.execute-api.eu-north-1.amazonaws.com.example/v1', 'us-west-2/lambda'],
  ])('are signed for the service and region of %s', async (api, scope) => {
    vi.stubEnv('AWS_REGION', 'us-west-2');
    await createFanOutClient({ api, fetch: remember, credentials }).fanOut('f').seal();
    expect(String(new Headers(asked[0]?.init.headers).get('authorization'))).toContain(`/${scope}/aws4_request,`);
    vi.unstubAllEnvs();
  });

  it('to a custom domain of API Gateway are signed for the given service', async () => {
    const given = { region: 'us-west-2', service: 'execute-api' } as const;
    const api = 'https://groupage.example/v1';
    await createFanOutClient({ api, fetch: remember, credentials, ...given })
      .fanOut('f')
      .seal();
    const { address, init } = asked[0] as (typeof asked)[number];
    const headers = Object.fromEntries(new Headers(init.headers));
    const arrived = { method: 'POST', url: new URL(address).pathname, headers };
    expect(signatureProblem(arrived as never, String(init.body), 'us-west-2', 'execute-api')).toBeUndefined();
  });

  it('have the signature that a function URL computes', async () => {
    const api = "https://abc.lambda-url.eu-north-1.on.aws/a'(b)/v1";
    await createFanOutClient({ api, fetch: remember, credentials }).fanOut('f').seal();
    const { address, init } = asked[0] as (typeof asked)[number];
    const arrived = {
      method: 'POST',
      url: new URL(address).pathname,
      headers: Object.fromEntries(new Headers(init.headers)),
    };
    expect(signatureProblem(arrived as never, String(init.body), 'eu-north-1')).toBeUndefined();
    expect(signatureProblem(arrived as never, 'another body', 'eu-north-1')).toMatch(/does not match/);
  });

  it('to another host are signed for the given region, to localhost unsigned', async () => {
    const given = { fetch: remember, credentials, region: 'us-west-2' };
    await createFanOutClient({ api: 'https://proxy.example/v1', ...given })
      .fanOut('f')
      .seal();
    expect(String(new Headers(asked[0]?.init.headers).get('authorization'))).toContain('/us-west-2/lambda/');
    for (const api of ['http://127.0.0.1:4500/v1/', 'http://localhost:4500/v1', 'http://[::1]:4500/v1']) {
      await createFanOutClient({ api, ...given })
        .fanOut('f')
        .seal();
      expect(asked.at(-1)?.address).toBe(`${api.replace(/\/$/, '')}/fan-outs/f/seal`);
      expect(new Headers(asked.at(-1)?.init.headers).has('authorization')).toBe(false);
    }
  });
});
