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

/**
 * @param timeout of the calls
 * @param tokenUrl requests to this URL and their answers are hidden, because they consist of secrets
 */
export const recorderOf = (secrets: Secrets, timeout: number, tokenUrl?: string): Recorder => {
  const known = new Set<string>();
  const made: Exchange[] = [];
  const hide = (text: string): string => [...known].reduce((shown, each) => shown.replaceAll(each, HIDDEN), text);
  const learn = (text: string): void => {
    const secret = text.trim();
    if (secret !== '') for (const form of formsOf(secret)) known.add(form);
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
      const headers = (init?.headers ?? {}) as Record<string, string>;
      const [, token = ''] = /^\w+ (.+)$/.exec(headers.authorization ?? '') ?? [];
      learn(token);
      const url = String(input);
      const request = { method: init?.method ?? 'GET', url, headers, body: String(init?.body ?? '') };
      const record = (answer: Exchange['answer']) =>
        made.push({ ...request, took: Math.round(performance.now() - from), answer });
      try {
        const response = await fetch(input, init);
        const { status } = response;
        const isForToken = url === tokenUrl;
        const copy = isForToken ? response.clone() : undefined;
        const { body } = await readBody(response.body ?? []);
        record({ status, headers: Object.fromEntries(response.headers), body: isForToken ? HIDDEN : body });
        // A reason quotes only the start of an answer, which could cut a secret. So the answer is read without secrets.
        return (
          copy ?? new Response(hasNoBody(status) ? null : hide(body), { status, headers: withoutLength(response) })
        );
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
        body: url === tokenUrl ? HIDDEN : hide(body),
        answer:
          'failure' in answer
            ? { failure: hide(answer.failure) }
            : { ...answer, headers: hidden(Object.entries(answer.headers)), body: hide(answer.body) },
      })),
  };
};

/** A response with one of these statuses has no body. */
const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304;

/** The headers of an answer, without those that describe the bytes as they were sent. */
const withoutLength = ({ headers }: Response): Headers => {
  const kept = new Headers(headers);
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) kept.delete(name);
  return kept;
};

/** How a secret may appear: as it is, and encoded in a URL, a form or JSON. */
const formsOf = (secret: string): readonly string[] => {
  const inUrl = encodeURIComponent(secret);
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    inUrl,
    inUrl.replaceAll(/[!'()*~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
    new URLSearchParams({ '': secret }).toString().slice(1),
    new URL(`http://x/?${inUrl}`).search.slice(1),
    inJson,
    inJson.replaceAll('/', '\\/'),
    Buffer.from(secret).toString('base64'),
  ];
};
