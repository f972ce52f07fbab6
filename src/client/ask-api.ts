/** Asks the HTTP API, again where the answer was lost or the API is busy. */
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { requestSigner } from '../aws/signed-request.ts';
import { isObject, parseJson } from '../batching/json-text.ts';
import { describeProblems, type Problem, reasonOf } from '../batching/problems.ts';
import type { Ask } from './ask.ts';

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

/** The API does not do what it was asked: asking again gets the same answer. */
export class ApiRefused extends Error {
  override readonly name = 'ApiRefused';
  /** 400 malformed, 403 not allowed, 404 unknown, 409 a state that forbids it. */
  readonly status: number;
  /** What is wrong with a request, and where. */
  readonly errors: readonly Problem[];
  constructor(status: number, detail: string, errors: readonly Problem[] = []) {
    super([detail, describeProblems(errors)].filter((text) => text !== '').join('\n'));
    this.status = status;
    this.errors = errors;
  }
}

/** The API did not answer, or only that it cannot, however often it was asked. What it was asked for may have been done. */
export class ApiUnavailable extends Error {
  override readonly name = 'ApiUnavailable';
  /** The last answer's: 429 or 5xx; undefined where none came. */
  readonly status: number | undefined;
  constructor(origin: string, tries: number, cause: unknown) {
    const again = 'the same call can be made again later, with the same id or token, and does nothing twice';
    super(`${origin} was asked ${tries} times, at last: ${reasonOf(cause)}; ${again}`, { cause });
    this.status = cause instanceof Busy ? cause.status : undefined;
  }
}

/** An answer after which asking again may help. */
class Busy extends Error {
  override readonly name = 'Busy';
  readonly status: number;
  /** Milliseconds that it wants to be left alone. */
  readonly pause: number;
  constructor(status: number, detail: string, pause: number) {
    super(`it answered ${status} (${detail})`);
    this.status = status;
    this.pause = pause;
  }
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
  return async (path, body, { method = 'POST', signal } = {}) => {
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
        if (tries === TRIES) throw new ApiUnavailable(base.origin, tries, cause);
        const pause = Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries);
        await rest(pause + (cause instanceof Busy ? cause.pause : 0), signal);
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
const askOnce = async (send: typeof fetch, address: string, init: RequestInit): Promise<unknown> => {
  const response = await send(address, { ...init, signal: AbortSignal.timeout(TIMEOUT) });
  const text = await response.text();
  const json = parseJson(text);
  const answer = json.ok && isObject(json.value) ? json.value : undefined;
  if (response.ok && answer) return answer;
  const { detail = answer?.message ?? answer?.Message ?? text.slice(0, 200), errors } = answer ?? {};
  if (response.status === 429 || response.status >= 500)
    throw new Busy(response.status, String(detail), pauseIn(response.headers.get('retry-after')));
  const said = response.ok || response.status < 400 ? 'is it the API of Groupage?' : String(detail);
  throw new ApiRefused(response.status, `${response.status}: ${said}`, (errors ?? []) as readonly Problem[]);
};

/** What is asked for by `Retry-After`, in seconds, as far as anybody waits. */
const pauseIn = (header: string | null): number =>
  /^\d{1,4}$/.test(header ?? '') ? Math.min(LONGEST_PAUSE, Number(header) * 1_000) : 0;
