/**
 * The format of a batch API that has one of its own: its path, its request, its answer and its authorization. Without
 * these settings, Groupage sends and reads its own format (docs/reference/downstream-call.md).
 */

import type { SecretRef } from './endpoints.ts';

/** Constant JSON that is sent with each call or item. */
type JsonObject = Readonly<Record<string, unknown>>;

/** How the items of a call are written into its body. All pointers are JSON pointers. */
export interface RequestFormat {
  /**
   * `array`: a JSON list of the items. `object`: a JSON object with such a list in it. `ndjson`: a line for each item.
   * `form`: form fields, one of which is such a list as JSON.
   */
  readonly as: 'array' | 'object' | 'ndjson' | 'form';
  /** `object`: a pointer to the list. `form`: the field that holds it. Null for the others. */
  readonly items: string | null;
  /** `object` and `form`: what is sent beside the list. */
  readonly with: JsonObject;
  readonly item: ItemFormat;
  /** The content type. Null for the usual one. */
  readonly contentType: string | null;
}

/** How one item is written. */
interface ItemFormat {
  /** The part of the payload that is sent. */
  readonly from: string;
  /** Where that part is in the item. */
  readonly at: string;
  /** Where the task's id is in the item. Null if it is not sent. */
  readonly id: string | null;
  /** What each item contains beside that. */
  readonly with: JsonObject;
  /** `ndjson`: a line before each item, such as an action of a bulk API. Null for none. */
  readonly line: LineFormat | null;
}

export interface LineFormat {
  readonly with: JsonObject;
  /** Where an id is in the line. Null if none is sent. */
  readonly id: string | null;
  /** The part of the payload that is this id. Null for the task's id. */
  readonly from: string | null;
}

type Scalar = string | number | boolean | null;

/** A test of the value at a pointer. A value that is missing passes no test. */
export type Test = { readonly at: string } & (
  | { /** One of these values. */ readonly is: Scalar | readonly Scalar[] }
  | { /** A number from … to …, both included. */ readonly from: number; readonly to: number }
  | { /** Any value but null. */ readonly present: true }
);

/**
 * How the outcome of each item is read from the body of a 2xx answer. Without `results` and `failures`, the tests apply
 * to the whole body, and the outcome to all items. Without any test too, each 2xx answer is a success.
 */
export interface ResponseFormat {
  /** A pointer to a list with a result for each item. With `failures`: for each item that succeeded. */
  readonly results: string | null;
  /** A pointer to a list of those items that did not succeed. With `results`, the list may be missing. */
  readonly failures: string | null;
  /** In an element of a list: the task's id, or a list of ids. Null if the results are in the order of the items. */
  readonly id: string | null;
  /** The same in an element of `failures`, if it is elsewhere there. Null if it is not. */
  readonly failureId: string | null;
  /** In an element of `failures`: the number of the item, from 0. */
  readonly index: string | null;
  /** With `failures` alone: a test of the body. If it passes, the list may be missing, and all items succeeded. */
  readonly succeeded: Test | null;
  readonly failed: Test | null;
  readonly throttled: Test | null;
  readonly retry: Test | null;
  /** In an element: the error's text, its code, and the result to store. */
  readonly error: string | null;
  readonly code: string | null;
  readonly result: string | null;
  /** In the body: the weight that the call used. */
  readonly usage: string | null;
}

/** How a call proves who sends it. */
export type Auth =
  | { readonly kind: 'bearer'; readonly token: SecretRef }
  | { readonly kind: 'basic'; readonly user: string; readonly password: SecretRef }
  | { readonly kind: 'api-key'; readonly key: SecretRef; readonly header: string | null; readonly query: string | null }
  /** AWS Signature Version 4, with the credentials of the batch handler. */
  | {
      readonly kind: 'sigv4';
      /** The service's name in the signature, such as `execute-api`. */
      readonly service: string;
      /** Null for the region of the stack. */
      readonly region: string | null;
      /** What the batch handler's role may do: one action on one resource. */
      readonly action: string;
      readonly resource: string;
    }
  /** OAuth 2.0 client credentials (RFC 6749, 4.4). */
  | {
      readonly kind: 'oauth2';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: SecretRef;
      /** Further parameters of the request for a token, such as `scope` and `audience`. */
      readonly with: Readonly<Record<string, string>>;
      /** Whether the id and secret are in the `Authorization` header or in the body of this request. */
      readonly sendIn: 'header' | 'body';
    };

/** The secrets that prove who sends a call. */
export const secretsOfAuth = (auth: Auth | null): readonly SecretRef[] => {
  switch (auth?.kind) {
    case 'bearer':
      return [auth.token];
    case 'basic':
      return [auth.password];
    case 'api-key':
      return [auth.key];
    case 'oauth2':
      return [auth.clientSecret];
    case 'sigv4':
    case undefined:
      return [];
  }
};

/** The methods with which a batch can be sent. */
export type Method = 'POST' | 'PUT' | 'PATCH';

/** A segment that leads to its folder or the one above. A URL parser decodes its dots. */
const DOTS = /^(?:\.|%2e){1,2}$/i;

/** A grouping value in a URL's path. */
const PLACE = /\{([^{}]*)\}/g;

/**
 * The scheme and host of a URL, which no message can change, and the rest. The origin is empty for a URL that parsers read
 * otherwise than it is written, such as `https:///host`.
 */
const parted = (url: string): { readonly origin: string; readonly rest: string } => {
  const [origin = ''] = /^https?:\/\/[^/\\?#{}\s]+(?=[/?#]|$)/i.exec(url) ?? [];
  return { origin, rest: url.slice(origin.length) };
};

/** The grouping fields that a URL names, and whether it names them only where it may: in its path. */
export const placesIn = (url: string): { readonly fields: readonly string[]; readonly isInPath: boolean } => {
  const { origin, rest } = parted(url);
  const [path = ''] = rest.split(/[?#]/, 1);
  const others = rest.slice(path.length) + path.replaceAll(PLACE, '');
  return {
    fields: [...path.matchAll(PLACE)].map(([, field = '']) => field),
    // A URL parser takes a backslash for a slash, and drops line breaks.
    isInPath: origin !== '' && !/[{}]/.test(others) && !/[\\\p{Cc}]/u.test(path),
  };
};

/**
 * The URL for a Target: each field is replaced by its value, percent-encoded, so that a value can neither leave its
 * segment nor change the host.
 *
 * @returns the field at fault if its value is empty, or its segment would be `.` or `..`: a URL cannot hold these
 */
export const urlFor = (
  url: string,
  values: ReadonlyMap<string, string>,
): { readonly url: string } | { readonly field: string } => {
  const { origin, rest } = parted(url);
  const [path = ''] = rest.split(/[?#]/, 1);
  const segments = path.split('/');
  for (const [index, segment] of segments.entries()) {
    const fields = [...segment.matchAll(PLACE)].map(([, name = '']) => name);
    const filled = segment.replaceAll(PLACE, (_, name: string) => encodeURIComponent(values.get(name) ?? ''));
    const empty = fields.find((name) => !values.get(name)) ?? (DOTS.test(filled) ? fields[0] : undefined);
    if (empty !== undefined) return { field: empty };
    segments[index] = filled;
  }
  return { url: `${origin}${segments.join('/')}${rest.slice(path.length)}` };
};
