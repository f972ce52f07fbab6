/** Proves to a batch API who sends a call: `downstream.auth`. */
import type { Auth } from '../domain/config/http-format.ts';
import type { Answer } from '../domain/downstream/downstream.ts';
import { readBody, whyNoAnswer } from '../domain/downstream/http-answer.ts';
import { parseRetryAfter } from '../domain/downstream/retry.ts';
import type { Millis } from '../domain/ids.ts';
import { isObject, parseJson } from '../util/json-text.ts';
import { type Authorizer, type CallSurroundings, type HttpRequest, NotAuthorized } from './http-format.ts';
import { readLine, readText, untilAborted } from './http-headers.ts';

type Fixed = Exclude<Auth, { kind: 'oauth2' }>;
type OAuth = Extract<Auth, { kind: 'oauth2' }>;

/** @param timeout of a request for a token */
export const authorizerOf = (auth: Auth | null, surroundings: CallSurroundings, timeout: Millis): Authorizer => {
  if (auth?.kind === 'oauth2') return oauthAuthorizer(auth, surroundings, timeout);
  return {
    authorize: (request, signal) =>
      auth === null ? Promise.resolve(request) : untilAborted(authorized(request, auth, surroundings), signal),
    renews: () => false,
  };
};

const withHeader = (request: HttpRequest, name: string, value: string): HttpRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});

const authorized = async (request: HttpRequest, auth: Fixed, surroundings: CallSurroundings): Promise<HttpRequest> => {
  const { secrets } = surroundings;
  switch (auth.kind) {
    case 'bearer':
      return withHeader(request, 'authorization', bearer(await readLine(secrets, auth.token)));
    case 'basic':
      return withHeader(request, 'authorization', basic(auth.user, await readText(secrets, auth.password)));
    case 'api-key': {
      const key = await readLine(secrets, auth.key);
      if (auth.header !== null) return withHeader(request, auth.header, key);
      const url = new URL(request.url);
      url.search = `${url.search === '' ? '?' : `${url.search}&`}${auth.query}=${encodeURIComponent(key)}`;
      return { ...request, url: url.href };
    }
    case 'sigv4':
      if (surroundings.sign) return surroundings.sign(request, auth);
      throw new NotAuthorized({
        kind: 'unavailable',
        reason:
          'the call cannot be signed without AWS credentials (downstream.auth, kind sigv4): the local stack has none, and groupage try needs --aws',
        mayRetryAtOnce: false,
      });
  }
};

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

const bearer = (token: string): string => `Bearer ${token}`;

interface Token {
  readonly text: string;
  readonly until: Millis;
}

/** A token is renewed this long before it expires, because a call takes time. */
const EARLY: Millis = 60_000;
/** The life of a token whose answer does not name it. */
const UNNAMED: Millis = 5 * 60_000;

/** One token serves all calls until it expires, or until the API refuses it. */
const oauthAuthorizer = (auth: OAuth, surroundings: CallSurroundings, timeout: Millis): Authorizer => {
  let token: Promise<Token> | undefined;
  let kept: Token | undefined;
  const current = (): Promise<Token> => {
    if (kept && surroundings.now() >= kept.until) token = undefined;
    if (token) return token;
    kept = undefined;
    const next = fetchToken(auth, surroundings, timeout).then((fetched) => {
      kept = fetched;
      return fetched;
    });
    token = next;
    next.catch(() => {
      token = undefined;
    });
    return next;
  };
  return {
    authorize: async (request, signal) => {
      const { text } = await untilAborted(current(), signal).catch((cause: unknown) => {
        if (!signal.aborted) throw cause;
        throw new NotAuthorized(unavailable(whyNoAnswer(signal.reason, timeout)));
      });
      return withHeader(request, 'authorization', bearer(text));
    },
    renews: ({ headers }) => {
      // Another call may have renewed the token since.
      if (kept && headers.authorization === bearer(kept.text)) token = undefined;
      return true;
    },
  };
};

const fetchToken = async (
  { tokenUrl, clientId, clientSecret, with: parameters, sendIn }: OAuth,
  { secrets, now, send = fetch }: CallSurroundings,
  timeout: Millis,
): Promise<Token> => {
  const secret = await readText(secrets, clientSecret);
  const inBody: Record<string, string> = sendIn === 'body' ? { client_id: clientId, client_secret: secret } : {};
  // RFC 6749, 2.3.1: both are encoded as form values first.
  const inHeader = sendIn === 'header' ? { authorization: basic(formEncoded(clientId), formEncoded(secret)) } : {};
  const response = await send(tokenUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...inHeader },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...parameters, ...inBody }).toString(),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeout),
  }).catch((cause: unknown) => {
    throw new NotAuthorized(unavailable(whyNoAnswer(cause, timeout)));
  });
  const { body } = await readBody(response.body ?? []).catch((cause: unknown) => {
    throw new NotAuthorized(unavailable(whyNoAnswer(cause, timeout)));
  });
  const json = parseJson(body);
  const said = json.ok && isObject(json.value) ? json.value : {};
  if (!response.ok) throw new NotAuthorized(refused(response, said.error, now()));
  const { access_token: text, expires_in: seconds } = said;
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text))
    throw new NotAuthorized({ ...unavailable('answered without an access_token'), misconfigured: true });
  const life = typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : UNNAMED;
  return { text, until: now() + Math.max(life / 2, life - EARLY) };
};

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

type Unavailable = Extract<Answer, { kind: 'unavailable' }>;

const unavailable = (why: string): Unavailable => ({
  kind: 'unavailable',
  reason: `no token for the call, downstream.auth.tokenUrl: ${why}`,
  mayRetryAtOnce: false,
});

/** The answer is not quoted, because it may repeat the request. Only the codes of RFC 6749, 5.2 are. */
const refused = ({ status, headers }: Response, error: unknown, now: Millis): Unavailable => {
  const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` ${error}` : '';
  const retryAfter = parseRetryAfter(headers.get('retry-after'), now);
  const answer = { ...unavailable(`answered ${status}${code}`), ...(retryAfter === undefined ? {} : { retryAfter }) };
  if (status === 429) return { ...answer, throttled: true };
  return status < 500 && status !== 408 ? { ...answer, misconfigured: true } : answer;
};
