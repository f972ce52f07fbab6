/**
 * Calls the HTTP API. Repeats a request if its answer was lost, or if the API could not process the request at the
 * moment.
 */
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { awsHost, requestSigner } from '../aws/signed-request.ts';
import { ApiRefused, ApiUnavailable, type Ask, Busy, readApiAnswer } from './ask.ts';

export { ApiRefused, ApiUnavailable } from './ask.ts';

/** Address of the HTTP API, and how its requests are sent and signed. */
export interface ApiOptions {
  /**
   * Address of the API including its version, such as a function URL (`https://….lambda-url.REGION.on.aws/v1`), an API
   * Gateway address (`https://….execute-api.REGION.amazonaws.com/v1`), or an address on this machine.
   */
  readonly api: string;
  /** @default - the global `fetch` */
  readonly fetch?: typeof fetch;
  /**
   * AWS region of the API. @default - the region in the host name; without it, the environment's region
   */
  readonly region?: string;
  /**
   * The service for which requests are signed: `execute-api` for a custom domain of API Gateway.
   * @default - the service in the host name; without it, `lambda`
   */
  readonly service?: 'lambda' | 'execute-api';
  /** Credentials that sign the requests. @default - the environment's credentials, as the AWS SDK finds them */
  readonly credentials?: NonNullable<SQSClientConfig['credentials']>;
}

/**
 * Number of attempts for each call, and the shortest and longest limit of the pauses between them, in milliseconds. The
 * limit doubles after each attempt. Each pause is a random part of the limit.
 */
const [TRIES, FIRST_PAUSE, LONGEST_PAUSE] = [7, 100, 5_000];
/** Longest time to wait for one answer, in milliseconds. The API's function may run for 20 s. */
const TIMEOUT = 30_000;

/** Waits for `pause` milliseconds, or until the signal aborts. */
export const rest = async (pause: number, signal?: AbortSignal): Promise<void> => {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, pause);
    signal?.addEventListener('abort', end, { once: true });
  });
};

/**
 * Creates the function that calls the HTTP API.
 *
 * @throws TypeError if `api` is not an https URL (or an http URL on this machine), or contains user, password, query or
 * fragment.
 */
export const askingApi = ({ api, fetch: send = fetch, ...options }: ApiOptions): Ask => {
  const base = addressOf(api);
  const sign = isHere(base) ? undefined : signerFor(base, options);
  return askingBy({ url: base.href.replace(/\/$/, ''), send, ...(sign ? { sign } : {}) });
};

/** How requests reach the API. */
interface Way {
  /** Address of the API including its version, without a slash at its end. */
  readonly url: string;
  readonly send: (address: string, init: RequestInit) => Promise<Response>;
  /** Signs a request. A request is not repeated after an error of this function. */
  readonly sign?: ReturnType<typeof requestSigner>;
  /** Whether an error of `send` would come again. @default - never */
  readonly isFinal?: (cause: unknown) => boolean;
}

/** Creates the function that calls the HTTP API, for a caller that has checked the address. */
export const askingBy =
  ({ url, send, sign, isFinal = () => false }: Way): Ask =>
  async (path, body, { method = 'POST', signal, name } = {}) => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const init =
      text === undefined ? { method } : { method, body: text, headers: { 'content-type': 'application/json' } };
    for (let tries = 1; ; tries += 1) {
      // Sign each attempt anew, because a signature is valid for a few minutes only.
      const request = sign ? await sign(`${url}${path}`, init) : { address: `${url}${path}`, init };
      try {
        return await askOnce(send, request.address, request.init);
      } catch (cause) {
        if (cause instanceof ApiRefused || isFinal(cause)) throw cause;
        if (tries === TRIES) throw new ApiUnavailable(new URL(url).origin, tries, cause, name);
        const pause = Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries);
        await rest(pause + (cause instanceof Busy ? Math.min(LONGEST_PAUSE, cause.pause) : 0), signal);
        signal?.throwIfAborted();
      }
    }
  };

const addressOf = (api: string): URL => {
  const base = URL.canParse(api) ? new URL(api) : undefined;
  const isFit = base && (base.protocol === 'https:' || (base.protocol === 'http:' && isHere(base)));
  // The error message does not show the address, because the address may contain a password.
  if (!isFit || `${base.username}${base.password}${base.search}${base.hash}` !== '')
    throw new TypeError(
      'api must be an https URL such as https://….lambda-url.eu-central-1.on.aws/v1, or an http URL on this machine, without user, password, query and fragment',
    );
  return base;
};

const isHere = ({ hostname }: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/**
 * Creates the function that signs requests. An SDK client provides the region and the credentials, which it renews, and
 * the hash function.
 */
const signerFor = (
  { href }: URL,
  { region, service, credentials }: Pick<ApiOptions, 'region' | 'service' | 'credentials'>,
) => {
  const host = awsHost(href);
  const there = region ?? host?.region;
  const { config } = new SQSClient({ ...(there ? { region: there } : {}), ...(credentials ? { credentials } : {}) });
  const signer = { region: config.region, credentials: config.credentials, sha256: config.sha256 };
  return requestSigner(service ?? host?.service ?? 'lambda', signer);
};

/**
 * Sends one request.
 * @throws ApiRefused. After any other error, the request may be repeated.
 */
const askOnce = async (send: Way['send'], address: string, init: RequestInit): Promise<unknown> =>
  readApiAnswer(await send(address, { ...init, signal: AbortSignal.timeout(TIMEOUT) }));
