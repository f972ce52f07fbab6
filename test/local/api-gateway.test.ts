/** The API function behind API Gateway: events as AWS records them, for the same request in both formats. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalFlow, startLocalFlow } from './flow.ts';

let flow: LocalFlow;
beforeAll(async () => {
  flow = await startLocalFlow();
});
afterAll(() => flow?.stop());

interface Asked {
  readonly method?: string;
  /** The path below the host, as sent. */
  readonly path: string;
  readonly query?: string;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** Repeated parameters, decoded. */
const parametersOf = (query: string): Record<string, string[]> =>
  Object.fromEntries(
    [...new Set(new URLSearchParams(query).keys())].map((name) => [name, new URLSearchParams(query).getAll(name)]),
  );
const lastOf = (lists: Record<string, string[]>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.at(-1)]));

const HEADERS = { 'content-type': 'application/json', accept: '*/*', 'x-forwarded-proto': 'https' };

/** What a REST API passes on: the path as sent, without its stage; the stage is in the context. */
const restEvent = ({ method = 'GET', path, query = '', body, isBase64Encoded = false }: Asked) => {
  const domainName = 'a1b2c3d4e5-vpce-0123456789abcdef0.execute-api.eu-central-1.amazonaws.com';
  const headers = { ...HEADERS, Host: domainName };
  const parameters = parametersOf(query);
  return {
    resource: '/{proxy+}',
    path: path.replace('/v1', ''),
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: query === '' ? null : lastOf(parameters),
    multiValueQueryStringParameters: query === '' ? null : parameters,
    pathParameters: { proxy: path.replace('/v1/', '') },
    stageVariables: null,
    requestContext: {
      resourcePath: '/{proxy+}',
      httpMethod: method,
      path,
      stage: 'v1',
      domainName,
      apiId: 'a1b2c3d4e5',
      identity: { accessKey: 'ASIA', userArn: 'arn:aws:sts::111122223333:assumed-role/ops/me', vpceId: 'vpce-0' },
    },
    body: body ?? null,
    isBase64Encoded,
  };
};

/** What an HTTP API passes on. @param decode how it decodes the path */
const httpEvent =
  (decode: (path: string) => string) =>
  ({ method = 'GET', path, query = '', body, isBase64Encoded = false }: Asked) => {
    const domainName = 'f6g7h8i9j0.execute-api.eu-central-1.amazonaws.com';
    const rawPath = decode(path);
    return {
      version: '2.0',
      routeKey: '$default',
      rawPath,
      rawQueryString: query,
      headers: { ...HEADERS, host: domainName },
      requestContext: {
        domainName,
        apiId: 'f6g7h8i9j0',
        stage: '$default',
        routeKey: '$default',
        authorizer: { iam: { userArn: 'arn:aws:sts::111122223333:assumed-role/ops/me' } },
        http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'node' },
      },
      ...(body === undefined ? {} : { body }),
      isBase64Encoded,
    };
  };
/** As the authors of ministack saw it. AWS documents neither this nor another rule. */
const exceptPercents = (path: string): string => decodeURIComponent(path.replaceAll('%25', '%2525'));

describe.each([
  ['a REST API', restEvent, 'a/b%2F c#d?e&f~ü+'],
  ['an HTTP API', httpEvent(exceptPercents), 'a/b%2F c#d?e&f~ü+'],
  ['an HTTP API that decodes every escape', httpEvent(decodeURIComponent), 'a/b c#d?e&f~ü+'],
])('the API behind %s', (_, eventOf, depot) => {
  const ask = async (asked: Asked) => {
    const api = [...flow.stack.functions.values()].find(({ name }) => name.includes('ApiHandler'));
    const answer = (await api?.invoke(eventOf(asked))) as {
      readonly statusCode: number;
      readonly body: string;
      readonly isBase64Encoded: boolean;
      readonly headers?: Readonly<Record<string, string>>;
      readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
    };
    expect(answer.isBase64Encoded).toBe(false);
    return { ...answer, json: JSON.parse(answer.body) as Record<string, unknown> };
  };

  it('finds a batch whose id has characters with a meaning in URLs', async () => {
    const [task] = await flow.ended(await flow.send([{ depot }]));
    const id = String(task?.batchId);
    expect(id).toMatch(/%.*#/);
    const { statusCode, json } = await ask({ path: `/v1/batches/${encodeURIComponent(id)}` });
    expect([statusCode, json.id]).toEqual([200, id]);
  });

  it('gets the query, with repeated parameters in their order', async () => {
    const target = flow.target('MUC & "co" + ü');
    await flow.ended(await flow.send([{ depot: 'MUC & "co" + ü' }]));
    const found = await ask({ path: '/v1/batches', query: `${new URLSearchParams({ target, limit: '1' })}` });
    expect([found.statusCode, (found.json.batches as unknown[]).length]).toEqual([200, 1]);
    await flow.ended(await flow.send([{ depot: 'HAM' }]));
    // The first value counts, as behind a function URL.
    const { json } = await ask({ path: '/v1/targets', query: 'limit=1&limit=2' });
    expect(json.targets).toHaveLength(1);
  });

  it('gets a body as text or in base64, and answers with its type', async () => {
    const body = JSON.stringify({ operation: 'ship', payload: { depot: 'MÜC' } });
    for (const given of [{ body }, { body: Buffer.from(body).toString('base64'), isBase64Encoded: true }]) {
      const { statusCode, json } = await ask({ method: 'POST', path: '/v1/tasks', ...given });
      expect(statusCode).toBe(202);
      const [task] = await flow.ended(json.ids as string[]);
      expect(task).toMatchObject({ status: 'succeeded', payload: { depot: 'MÜC' } });
    }
    const { statusCode, headers, multiValueHeaders } = await ask({ method: 'POST', path: '/v1/tasks', body: '{' });
    expect([statusCode, headers?.['content-type'] ?? multiValueHeaders?.['content-type']?.join()]).toEqual([
      400,
      'application/problem+json',
    ]);
  });

  it('has its own address in the OpenAPI document', async () => {
    const { json } = await ask({ path: '/v1/openapi.json' });
    expect(json.servers).toEqual([
      { url: expect.stringMatching(/^https:\/\/[a-z0-9-]+\.execute-api\.eu-central-1\.amazonaws\.com\/v1$/) },
    ]);
  });
});
