/** A real HTTP server with the wire protocol of an AWS service, for answers that an emulator never gives. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface AwsRequest {
  /** The operation of a JSON service, e.g. `AmazonSSM.GetParameter`. */
  readonly operation: string;
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

export interface AwsReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or a text that is sent unchanged. */
  readonly body?: unknown;
}

/** Returns the reply, or undefined if the request gets no answer or the behaviour writes to `response` itself. */
export type AwsBehaviour = (
  request: AwsRequest,
  response: ServerResponse,
) => AwsReply | undefined | Promise<AwsReply | undefined>;

export interface AwsService {
  readonly requests: AwsRequest[];
  /** Options for a client of the SDK. */
  readonly options: {
    readonly endpoint: string;
    readonly region: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  };
  behave(behaviour: AwsBehaviour): void;
  stop(): Promise<void>;
}

/** An error in the form of JSON services, and in the header that REST services use. */
export const awsError = (status: number, name: string, message = 'no reason', more: object = {}): AwsReply => ({
  status,
  headers: { 'x-amzn-errortype': name },
  body: { __type: name, message, ...more },
});

/** The region for which a request is signed. */
export const regionOf = ({ authorization }: AwsRequest['headers']): string | undefined =>
  /Credential=[^/]+\/\d{8}\/([^/]+)\//.exec(String(authorization))?.[1];

export const startAwsService = async (behaviour: AwsBehaviour = () => ({ body: {} })): Promise<AwsService> => {
  const requests: AwsRequest[] = [];
  let current = behaviour;
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', async () => {
      const request = {
        operation: String(message.headers['x-amz-target'] ?? ''),
        path: message.url ?? '',
        headers: message.headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(request);
      const reply = await current(request, response);
      if (!reply) return;
      const { status = 200, headers = {}, body = '' } = reply;
      response
        .writeHead(status, { 'content-type': 'application/x-amz-json-1.1', ...headers })
        .end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    requests,
    options: {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    },
    behave: (next) => {
      current = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
