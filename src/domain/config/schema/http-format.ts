/** Schemas of the format of a batch API that has one of its own. */
import * as z from 'zod';
import { POINTER_PATTERN, parsePointer, rawAt, withRawAt } from '../../../util/json-pointer.ts';
import { isObject } from '../../../util/json-text.ts';
import { HEADER_NAME, OWN_HEADERS, secretSchema } from './headers.ts';
import { fault, formed, must, mustUnseen, section, text, whole } from './rules.ts';

const pointer = text(POINTER_PATTERN, 'a JSON pointer such as "/data/id", or "" for the whole value');
const pointerOrNone = pointer.nullable().default(null);

/** Constant JSON is sent with each call, so it must be small. */
const CONSTANT_MAX = 10_000;
const isPlain = (value: unknown, depth = 0): boolean => {
  if (depth > 20) return false;
  if (Array.isArray(value)) return value.every((each) => isPlain(each, depth + 1));
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null)
    return ['string', 'boolean'].includes(typeof value) || value === null;
  if (Object.prototype.toString.call(value) !== '[object Object]') return false;
  return Object.entries(value).every(([name, each]) => name !== '__proto__' && isPlain(each, depth + 1));
};

// The message does not show the value, which may contain anything.
const constant = z
  .custom<Readonly<Record<string, unknown>>>(
    (value) => isObject(value) && isPlain(value) && JSON.stringify(value).length <= CONSTANT_MAX,
    { error: `must be an object of plain JSON values, with at most ${CONSTANT_MAX} characters` },
  )
  .meta({ type: 'object' })
  .default({});

const lineSchema = section(
  { with: constant, id: pointerOrNone, from: pointerOrNone },
  'an object such as {"with": {"index": {}}, "id": "/index/_id"}, or null for none',
);

/** Whether a value can be set at a pointer without replacing a constant. */
const isFree = (constants: Readonly<Record<string, unknown>>, at: string): boolean => {
  const text = JSON.stringify(constants);
  const pointer = parsePointer(at);
  return at === '' || (rawAt(text, pointer) === undefined && withRawAt(text, pointer, '0') !== undefined);
};
const TAKEN = 'is a place that "with" has a value for, or leads through one that is no object: choose another place';

const itemSchema = section(
  {
    from: pointer.default(''),
    at: pointer.default(''),
    id: pointerOrNone,
    with: constant,
    line: lineSchema.nullable().default(null),
  },
  'an object such as {"from": "/message", "id": "/custom_id"}',
).superRefine(({ at, id, with: beside, line }, context) => {
  if (!isFree(beside, at)) fault(context, ['at'], TAKEN);
  if (id !== null && id !== '' && (id === at || at.startsWith(`${id}/`)))
    fault(
      context,
      ['id'],
      'must not be the place of the payload ("at") or around it: the id would replace the payload',
    );
  if (line?.id === '' || (line && line.id !== null && !isFree(line.with, line.id)))
    fault(context, ['line', 'id'], 'must be a free place in line.with, such as "/index/_id"');
  if (line && line.id === null && line.from !== null)
    fault(context, ['line', 'from'], 'needs line.id: where the value is put');
  if (at === '' && Object.keys(beside).length > 0)
    fault(context, ['with'], 'needs "at": without it, the payload is the whole item and leaves no place for constants');
  if (id === '')
    fault(context, ['id'], 'must not be "", because the id cannot be the whole item: use a pointer such as "/id"');
});

const requestFields = section(
  {
    as: z.enum(['array', 'object', 'ndjson', 'form'], must('"array", "object", "ndjson" or "form"')),
    items: z.string(must('a text')).nullable().default(null),
    with: constant,
    item: itemSchema.prefault({}),
    contentType: text(
      /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?[\w-]{1,50}=[\w.-]{1,50})*$/,
      'a content type such as "application/vnd.api+json"',
    )
      .nullable()
      .default(null),
  },
  'an object such as {"as": "array"}, or null for the format of Groupage',
);

export const requestSchema = requestFields
  .superRefine(({ as, items, with: beside, item }, context) => {
    if (item.line !== null && as !== 'ndjson')
      fault(context, ['item', 'line'], 'needs "as": "ndjson": a body of another form has no lines');
    if (as === 'object' && items && POINTER_PATTERN.test(items) && !isFree(beside, items))
      fault(context, ['items'], TAKEN);
    if (as === 'form' && items && Object.hasOwn(beside, items)) fault(context, ['items'], TAKEN);
    if (as === 'object' && (items === null || items === '' || !POINTER_PATTERN.test(items)))
      fault(context, ['items'], 'must be a JSON pointer to the list, such as "/items", because "as" is "object"');
    if (as === 'form' && (!items || items.startsWith('/')))
      fault(context, ['items'], 'must be the name of the field with the list (no pointer), because "as" is "form"');
    if (as !== 'array' && as !== 'ndjson') return;
    if (items !== null) fault(context, ['items'], `has no meaning with "as": "${as}", whose body is the list itself`);
    if (Object.keys(beside).length > 0)
      fault(context, ['with'], `has no meaning with "as": "${as}", whose body has nothing beside the items`);
  })
  .nullable()
  .default(null);

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const TEST =
  'a test such as {"at": "/status", "is": "ok"}, {"at": "/status", "from": 200, "to": 299} or {"at": "/error", "present": true}';
const status = whole(-1_000_000, 1_000_000);
const testSchema = z
  .union(
    [
      section({ at: pointer, is: z.union([scalar, z.array(scalar).min(1)]) }),
      section({ at: pointer, from: status, to: status }).refine(({ from, to }) => from <= to, {
        error: `must be ${TEST}, or null for none`,
      }),
      section({ at: pointer, present: z.literal(true) }),
    ],
    { error: `must be ${TEST}, or null for none` },
  )
  .nullable()
  .default(null);

const responseFields = section(
  {
    results: pointerOrNone,
    failures: pointerOrNone,
    id: pointerOrNone,
    failureId: pointerOrNone,
    index: pointerOrNone,
    succeeded: testSchema,
    failed: testSchema,
    throttled: testSchema,
    retry: testSchema,
    error: pointerOrNone,
    code: pointerOrNone,
    result: pointerOrNone,
    usage: pointerOrNone,
  },
  'an object such as {"results": "/data", "succeeded": {"at": "/status", "is": "ok"}}, {} if each 2xx answer is a success, or null for the format of Groupage',
);

type Response = z.output<typeof responseFields>;

const checkResponse = (response: Response, context: z.RefinementCtx): void => {
  const { results, failures, id, failureId, index, succeeded, failed, throttled, retry, error, code, result } =
    response;
  if (results !== null && failures !== null && id === null)
    fault(context, ['id'], 'is needed with "results" and "failures": both lists name their items by it');
  if (results !== null && failures === null && succeeded === null && failed === null)
    fault(context, ['results'], 'needs a test, "succeeded" or "failed", that decides which results are successes');
  if (failures !== null && results === null && id === null && index === null)
    fault(context, ['failures'], 'needs "id" or "index", so that Groupage can find the task of each failure');
  if (failures !== null && id !== null && index !== null)
    fault(context, ['index'], 'cannot be combined with "id": leave one of the two out');
  if (failureId !== null && (failures === null || id === null))
    fault(context, ['failureId'], 'needs "failures" and "id": it replaces "id" in the elements of "failures"');
  if (index !== null && failures === null)
    fault(context, ['index'], 'needs "failures": results are in the order of the items, or have an id');
  if (results !== null || failures !== null) return;
  if (id !== null) fault(context, ['id'], 'needs "results" or "failures": the id is read from their elements');
  if (result !== null) fault(context, ['result'], 'needs "results": the result is read from its elements');
  const tests = [succeeded, failed, throttled, retry];
  if (tests.every((test) => test === null) && (error !== null || code !== null))
    fault(context, [error === null ? 'code' : 'error'], 'needs a test: without one, each 2xx answer is a success');
};

export const responseSchema = responseFields.superRefine(checkResponse).nullable().default(null);

const TOKEN_PARAMETERS = /^(?:grant_type|client_id|client_secret|client_assertion)$/;

const authKinds = {
  bearer: section({ kind: z.literal('bearer'), token: secretSchema }),
  basic: section({
    kind: z.literal('basic'),
    // RFC 7617: a user name has no colon.
    user: text(/^[\x20-\x39\x3b-\x7e]{0,200}$/, 'a user name of printable ASCII characters without a colon'),
    password: secretSchema,
  }),
  'api-key': section({
    kind: z.literal('api-key'),
    key: secretSchema,
    header: formed(HEADER_NAME, mustUnseen('the name of a header, or null for none')).nullable().default(null),
    query: text(/^[\w.~-]{1,100}$/, 'the name of a query parameter, or null for none')
      .nullable()
      .default(null),
  }),
  sigv4: section({
    kind: z.literal('sigv4'),
    service: text(/^[a-z0-9-]{1,50}$/, 'the name of a service in signatures, such as "execute-api"'),
    region: text(/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'a region such as "eu-central-1", or null for that of the stack')
      .nullable()
      .default(null),
    action: text(/^[a-z0-9-]{1,50}:[A-Za-z0-9]{1,100}$/, 'one action such as "execute-api:Invoke", without *'),
    resource: text(/^arn:[^\s*?]{1,1000}$/, 'the ARN of one resource, without * and ?'),
  }),
};

/** The kinds of authorization. @param url the schema of a URL */
const kindsOfAuth = <Url extends z.ZodType<string, string>>(url: Url) => ({
  ...authKinds,
  oauth2: section({
    kind: z.literal('oauth2'),
    tokenUrl: url,
    clientId: text(/^[\x20-\x7e]{1,500}$/, 'the id of a client'),
    clientSecret: secretSchema,
    with: z
      .record(z.string(), z.string(mustUnseen('a text')), mustUnseen('an object such as {"scope": "crm.write"}'))
      .superRefine((parameters, context) => {
        for (const name of Object.keys(parameters))
          if (TOKEN_PARAMETERS.test(name)) fault(context, [name], 'is set by Groupage itself: leave it out');
      })
      .default({}),
    sendIn: z.enum(['header', 'body'], must('"header" or "body"')).default('header'),
  }),
});

const AUTH = '"bearer", "basic", "api-key", "sigv4" or "oauth2"';

/** @param url the schema of a URL */
export const authSchema = <Url extends z.ZodType<string, string>>(url: Url) => {
  const { bearer, basic, 'api-key': apiKey, sigv4, oauth2 } = kindsOfAuth(url);
  return z
    .discriminatedUnion('kind', [bearer, basic, apiKey, sigv4, oauth2], {
      error: ({ code, input }) =>
        code === 'invalid_union'
          ? must(AUTH).error({ input: (input as { kind?: unknown } | undefined)?.kind })
          : mustUnseen(`an object with a "kind": ${AUTH}, or null for none`).error({ input }),
    })
    .superRefine((auth, context) => {
      if ('header' in auth && auth.header !== null && OWN_HEADERS.test(auth.header))
        fault(context, ['header'], 'is a header that Groupage sets itself: choose another');
      if ('tokenUrl' in auth && /[{}]/.test(String(auth.tokenUrl)))
        fault(context, ['tokenUrl'], 'cannot have fields in braces');
      if ('header' in auth && (auth.header === null) === (auth.query === null))
        fault(context, ['header'], 'or "query" must be set, and not both: it says where the key is sent');
    })
    .nullable()
    .default(null);
};

/** The keys of each section, by its path within the downstream. Those of `auth` depend on its kind. */
export const formatKeys: Readonly<Record<string, readonly string[]>> = {
  request: Object.keys(requestFields.shape),
  'request.item': Object.keys(itemSchema.shape),
  'request.item.line': Object.keys(lineSchema.shape),
  response: Object.keys(responseFields.shape),
};

export const authKeys: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(kindsOfAuth(z.string())).map(([kind, { shape }]) => [kind, Object.keys(shape)]),
);
