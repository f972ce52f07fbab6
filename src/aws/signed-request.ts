/** Signs requests to the API with Signature Version 4: to a function URL, or to API Gateway. Both require IAM. */
import { SignatureV4 } from '@smithy/signature-v4';

/** Region, credentials and hash function of the signature. An SDK client finds and renews the credentials. */
export type Signer = Pick<ConstructorParameters<typeof SignatureV4>[0], 'region' | 'credentials' | 'sha256'>;

/** The service that checks a signature: `lambda` for a function URL, `execute-api` for API Gateway. */
export type SigningService = 'lambda' | 'execute-api';

const HOSTS: readonly (readonly [host: RegExp, service: SigningService])[] = [
  [/\.lambda-url\.([a-z0-9-]+)\.on\.aws$/, 'lambda'],
  [/\.execute-api\.([a-z0-9-]+)\.amazonaws\.(?:com|com\.cn|eu)$/, 'execute-api'],
];

/** The service and region in one of AWS's own host names. Undefined for other hosts, such as custom domains. */
export const awsHost = (address: string): { readonly service: SigningService; readonly region: string } | undefined => {
  const { hostname } = new URL(address);
  for (const [host, service] of HOSTS) {
    const [, region] = host.exec(hostname) ?? [];
    if (region !== undefined) return { service, region };
  }
  return undefined;
};

/** A request in the form that `fetch` takes. */
export interface SignedRequest {
  readonly address: string;
  readonly init: RequestInit;
}

/**
 * @param service the name of the service in signatures
 * @returns a function that takes an `init` whose headers are a plain object, and whose body is a string. */
export const requestSigner = (
  service: string,
  signer: Signer,
): ((address: string, init: RequestInit) => Promise<SignedRequest>) => {
  const signature = new SignatureV4({ service, ...signer });
  return async (address, init) => {
    const { protocol, host, hostname, port, pathname, searchParams } = new URL(address);
    const path = strictly(pathname);
    const query = queryOf(searchParams);
    const { headers } = await signature.sign({
      method: init.method ?? 'GET',
      protocol,
      hostname,
      ...(port === '' ? {} : { port: Number(port) }),
      path,
      query,
      headers: { ...(init.headers as Record<string, string> | undefined), host },
      ...(init.body ? { body: init.body } : {}),
    });
    // Do not follow redirects: another host must not get the session token, nor a body meant for this host.
    return { address: `${protocol}//${host}${path}${textOf(query)}`, init: { ...init, headers, redirect: 'manual' } };
  };
};

/** A call of a batch API, as src/downstreams makes it. */
interface SignedCall<Method extends string> {
  readonly url: string;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Signs calls of batch APIs. @param signer returns what signs, with the region of the process */
export const callSigner =
  (signer: () => Signer) =>
  async <Method extends string>(
    { url, method, headers, body }: SignedCall<Method>,
    { service, region }: { readonly service: string; readonly region: string | null },
  ): Promise<SignedCall<Method>> => {
    const sign = requestSigner(service, { ...signer(), ...(region === null ? {} : { region }) });
    const { address, init } = await sign(url, { method, headers, body });
    return { url: address, method, headers: init.headers as Record<string, string>, body };
  };

/** Encodes text as the signature does, including the characters that `encodeURIComponent` leaves unchanged. */
const strictly = (encoded: string): string =>
  encoded.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

type Query = Record<string, string[]>;

/** A query may name a parameter several times. */
const queryOf = (parameters: URLSearchParams): Query =>
  Object.fromEntries([...parameters.keys()].map((name) => [name, parameters.getAll(name)]));

/** Prints a query. `URLSearchParams` would print a space as `+`, which the signature treats as a plus sign. */
const textOf = (query: Query): string => {
  const parts = Object.entries(query).flatMap(([name, values]) =>
    values.map((value) => [name, value].map((text) => strictly(encodeURIComponent(text))).join('=')),
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
};
