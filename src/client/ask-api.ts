/** Asks the HTTP API, again where the answer was lost or the API is busy. */
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { requestSigner } from '../aws/signed-request.ts';
import { ApiRefused, ApiUnavailable, type Ask, Busy, readApiAnswer } from './ask.ts';

export { ApiRefused, ApiUnavailable } from './ask.ts';

export interface ApiOptions {
  /** The API up to its version: a function URL (`https://….lambda-url.REGION.on.aws/v1`) or one on this machine. */
  readonly api: string;
  /** @default - the global one */
  readonly fetch?: typeof fetch;
  /** @default - that of a function URL's host, otherwise the environment's */
  readonly region?: string;
  /** @default - those of the environment, as the AWS SDK finds them */
  readonly credentials?: NonNullable<SQSClientConfig['credentials']>;
}

/** How often it is asked, and pauses between (ms): each up to twice as long as the one before, by chance. */
const [TRIES, FIRST_PAUSE, LONGEST_PAUSE] = [7, 100, 5_000];
/** How long one answer is waited for (ms): the API's function has 20 s. */
const TIMEOUT = 30_000;

/** Waits for some milliseconds, or until the signal aborts. */
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

/** @throws TypeError where the address cannot be the API's. */
export const askingApi = ({ api, fetch: send = fetch, ...options }: ApiOptions): Ask => {
  const base = addressOf(api);
  const sign = isHere(base) ? undefined : signerFor(base, options);
  const url = base.href.replace(/\/$/, '');
  return async (path, body, { method = 'POST', signal, name } = {}) => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const init =
      text === undefined ? { method } : { method, body: text, headers: { 'content-type': 'application/json' } };
    for (let tries = 1; ; tries += 1) {
      // A signature holds for some minutes, so each try has its own.
      const request = sign ? await sign(`${url}${path}`, init) : { address: `${url}${path}`, init };
      try {
        return await askOnce(send, request.address, request.init);
      } catch (cause) {
        if (cause instanceof ApiRefused) throw cause;
        if (tries === TRIES) throw new ApiUnavailable(base.origin, tries, cause, name);
        const pause = Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries);
        await rest(pause + (cause instanceof Busy ? Math.min(LONGEST_PAUSE, cause.pause) : 0), signal);
        signal?.throwIfAborted();
      }
    }
  };
};

const addressOf = (api: string): URL => {
  const base = URL.canParse(api) ? new URL(api) : undefined;
  const isFit = base && (base.protocol === 'https:' || (base.protocol === 'http:' && isHere(base)));
  // Not shown: what is wrong with it may be the password.
  if (!isFit || `${base.username}${base.password}${base.search}${base.hash}` !== '')
    throw new TypeError(
      'api must be an https URL such as https://….lambda-url.eu-central-1.on.aws/v1, or an http one on this machine, without user, password and query',
    );
  return base;
};

const isHere = ({ hostname }: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/** An SDK's client finds region and credentials, renews them, and brings a hash. */
const signerFor = ({ hostname }: URL, { region, credentials }: Pick<ApiOptions, 'region' | 'credentials'>) => {
  const [, ofHost] = /\.lambda-url\.([a-z0-9-]+)\.on\.aws$/.exec(hostname) ?? [];
  const there = region ?? ofHost;
  const { config } = new SQSClient({ ...(there ? { region: there } : {}), ...(credentials ? { credentials } : {}) });
  return requestSigner({ region: config.region, credentials: config.credentials, sha256: config.sha256 });
};

/** @throws ApiRefused; anything else may be tried again. */
const askOnce = async (send: typeof fetch, address: string, init: RequestInit): Promise<unknown> =>
  readApiAnswer(await send(address, { ...init, signal: AbortSignal.timeout(TIMEOUT) }));
