/** Stand-ins for AWS: CloudFormation's DescribeStacks, and an API that checks signatures as Lambda and API Gateway do. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const CREDENTIALS = { id: 'AKIDTEST', secret: 'a/secret+of=tests', token: 'a-session-token' };

export interface Served {
  readonly url: string;
  close(): void;
}

export const serve = async (listener: RequestListener): Promise<Served> => {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
};

export interface FakeStack {
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly changeSetId?: string;
}

/** Answers in CloudFormation's XML. @param refusal code and message of an error that every call returns */
export const cloudFormation = (
  stacks: Readonly<Record<string, FakeStack>>,
  refusal?: () => readonly [code: string, message: string] | undefined,
): Promise<Served> =>
  serve(async (request, response) => {
    const name = new URLSearchParams(await bodyOf(request)).get('StackName');
    const refused = refusal?.() ?? (name && !stacks[name] ? missing(name) : undefined);
    const found = Object.entries(stacks).filter(([each]) => name === null || each === name);
    response.writeHead(refused ? 400 : 200, { 'content-type': 'text/xml' });
    response.end(
      refused
        ? `<ErrorResponse><Error><Type>Sender</Type><Code>${refused[0]}</Code><Message>${refused[1]}</Message></Error></ErrorResponse>`
        : `<DescribeStacksResponse><DescribeStacksResult><Stacks>${found.map(xmlOf).join('')}</Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    );
  });

const missing = (name: string) => ['ValidationError', `Stack with id ${name} does not exist`] as const;

const xmlOf = ([name, { status, outputs, changeSetId = '' }]: [string, FakeStack]): string => {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return `<member><StackName>${name}</StackName><StackId>arn:${name}</StackId><StackStatus>${status}</StackStatus><ChangeSetId>${changeSetId}</ChangeSetId><Outputs>${members.join('')}</Outputs></member>`;
};

export const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** Computes the signature of the received request. @returns why the sent signature differs, or undefined */
export const signatureProblem = (
  request: IncomingMessage,
  body: string,
  region: string,
  service = 'lambda',
): string | undefined => {
  const { authorization = '', 'x-amz-date': date = '', 'x-amz-security-token': token } = request.headers;
  const [, id, scope = '', signed = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)$/.exec(authorization) ?? [];
  const day = String(date).slice(0, 8);
  if (scope !== `${day}/${region}/${service}/aws4_request`) return `the scope is ${scope}`;
  if (id !== CREDENTIALS.id || token !== CREDENTIALS.token) return 'the credentials are others';
  if (!signed.split(';').includes('host')) return 'the host is not signed';
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const canonical = [
    request.method,
    // The path is encoded a second time, as for every service except S3.
    path.split('/').map(encoded).join('/'),
    query.split('&').toSorted().join('&'),
    ...signed.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    signed,
    sha256(body),
  ].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${CREDENTIALS.secret}`);
  const expected = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex');
  return signature === expected ? undefined : 'The request signature we calculated does not match';
};
