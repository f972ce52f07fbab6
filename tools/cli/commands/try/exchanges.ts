/** Records HTTP requests and their answers, and hides the secrets in them. */
import { readBody, whyNoAnswer } from '../../../../src/domain/downstream/http-answer.ts';
import type { Secrets } from '../../../../src/domain/downstream/secret.ts';

/** A request, and its answer or why there was none. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds until the answer's body was read, or until the call failed. */
  readonly took: number;
  readonly answer:
    | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
    | { readonly failure: string };
}

export interface Recorder {
  readonly send: typeof fetch;
  /** The secrets, each of which is hidden once it was read. */
  readonly secrets: Secrets;
  /** What was sent and answered so far, without secrets. */
  exchanges(): readonly Exchange[];
  /** A text without the secrets: an API may repeat them in its errors. */
  hide(text: string): string;
}

const HIDDEN = '(hidden)';
/** Headers that are secret or that prove something, whatever their value. */
const SECRET_HEADERS = /^(?:authorization|cookie|set-cookie|x-amz-security-token|groupage-signature.*)$/;

export const recorderOf = (secrets: Secrets, timeout: number): Recorder => {
  const known = new Set<string>();
  const made: Exchange[] = [];
  const hide = (text: string): string => [...known].reduce((shown, each) => shown.replaceAll(each, HIDDEN), text);
  const learn = (text: string): void => {
    const secret = text.trim();
    if (secret === '') return;
    // A secret may be repeated in a URL, in JSON or as a form value.
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) known.add(form);
  };
  const hidden = (headers: Iterable<readonly [string, string]>) =>
    Object.fromEntries(
      [...headers].map(([name, value]) => [name, SECRET_HEADERS.test(name.toLowerCase()) ? HIDDEN : hide(value)]),
    );
  return {
    secrets: {
      read: async (ref) => {
        const text = await secrets.read(ref);
        learn(text);
        return text;
      },
    },
    send: async (input, init) => {
      const from = performance.now();
      const headers = Object.entries((init?.headers ?? {}) as Record<string, string>);
      const request = { method: init?.method ?? 'GET', url: String(input), headers, body: String(init?.body ?? '') };
      const [, token = ''] = /^\w+ (.+)$/.exec(headers.find(([name]) => name === 'authorization')?.[1] ?? '') ?? [];
      learn(token);
      const record = (answer: Exchange['answer']) =>
        made.push({
          ...request,
          headers: Object.fromEntries(headers),
          took: Math.round(performance.now() - from),
          answer,
        });
      try {
        const response = await fetch(input, init);
        const copy = response.clone();
        const { body } = await readBody(response.body ?? []);
        record({ status: response.status, headers: Object.fromEntries(response.headers), body });
        return copy;
      } catch (cause) {
        record({ failure: whyNoAnswer(cause, timeout) });
        throw cause;
      }
    },
    hide,
    exchanges: () =>
      made.map(({ url, headers, body, answer, ...rest }) => ({
        ...rest,
        url: hide(url),
        headers: hidden(Object.entries(headers)),
        body: hide(body),
        answer:
          'failure' in answer
            ? { failure: hide(answer.failure) }
            : { ...answer, headers: hidden(Object.entries(answer.headers)), body: hide(tokenless(answer.body)) },
      })),
  };
};

/** A token that an answer contains is not yet known as a secret. */
const tokenless = (body: string): string =>
  body.replaceAll(/("(?:access|refresh|id)_token"\s*:\s*")(?:[^"\\]|\\.)*"/g, `$1${HIDDEN}"`);
