/** Schemas of downstreams and destinations. No address comes from anywhere else. */
import * as z from 'zod';
import { MINUTE } from '../../timings.ts';
import type { DownstreamTarget } from '../endpoints.ts';
import { HEADER_NAME, headersSchema, secretSchema } from './headers.ts';
import { authSchema, requestSchema, responseSchema } from './http-format.ts';
import { busName, functionName, machineName, queueName, topicName } from './names.ts';
import { DAY, duration, formed, must, mustUnseen, section } from './rules.ts';

const url = z
  .string(mustUnseen('an http or https URL such as https://parcels.example/batch'))
  .superRefine((address, context) => {
    const parsed = URL.parse(address);
    if (!parsed || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:'))
      // Do not show the value in the message, because it may contain a password.
      context.addIssue('must be an http or https URL such as https://parcels.example/batch');
    // A configuration is committed and logged, so it must not hold a password.
    else if (parsed.username || parsed.password)
      context.addIssue('must not contain a user name or password: set a header whose value refers to a secret');
  });

// Node's fetch gives up after five minutes without an answer, so a longer timeout would have no effect.
const httpTimeout = duration(100, 4 * MINUTE).default(10_000);
const legacySignature = z.boolean(must('true or false')).default(true);
// The message does not show the value: it may be a whole header, with a secret in it.
const usageHeader = formed(HEADER_NAME, {
  error: ({ input }) =>
    typeof input === 'string'
      ? 'is not a valid name of a response header: use letters, digits and -, such as "x-usage"'
      : mustUnseen('the name of a response header, such as "x-usage", or null for none').error({ input }),
})
  .nullable()
  .default(null);
const deadline = duration(MINUTE, 7 * DAY).default(60 * MINUTE);

const requireResults = z.boolean(must('true, false or null')).nullable().default(null);

const downstreamKinds = {
  http: section({
    kind: z.literal('http'),
    url,
    method: z.enum(['POST', 'PUT', 'PATCH'], must('"POST", "PUT" or "PATCH"')).default('POST'),
    headers: headersSchema,
    auth: authSchema(url),
    request: requestSchema,
    response: responseSchema,
    secret: secretSchema.nullable().default(null),
    legacySignature,
    usageHeader,
    timeout: httpTimeout,
    deadline,
    requireResults,
  }),
  lambda: section({
    kind: z.literal('lambda'),
    function: functionName,
    timeout: duration(100, 14 * MINUTE).default(10_000),
    deadline,
    requireResults,
  }),
  'step-functions': section({
    kind: z.literal('step-functions'),
    stateMachine: machineName,
    timeout: httpTimeout,
    deadline,
    requireResults,
  }),
  // A task succeeds when its message is in the queue, so there is no later report and no deadline.
  queue: section({ kind: z.literal('queue'), name: queueName, timeout: httpTimeout }),
};

const named = (kind: 'queue' | 'topic' | 'event-bus', name: typeof queueName) =>
  section({ kind: z.literal(kind), name });

const destinationKinds = {
  queue: named('queue', queueName),
  topic: named('topic', topicName),
  'event-bus': named('event-bus', busName),
  http: section({
    kind: z.literal('http'),
    url,
    headers: headersSchema,
    secret: secretSchema,
    legacySignature,
    timeout: httpTimeout,
  }),
};

const listed = (kinds: object): string => {
  const names = Object.keys(kinds).map((kind) => `"${kind}"`);
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
};

/** The error for an unknown or missing `kind`. Errors inside a known kind are reported by that kind's schema. */
const ofKind = (kinds: object) => ({
  error: ({ code, input }: { code?: string; input?: unknown }) =>
    code === 'invalid_union'
      ? must(listed(kinds)).error({ input: (input as { kind?: unknown } | undefined)?.kind })
      : mustUnseen(`an object with a "kind": ${listed(kinds)}`).error({ input }),
});

export const downstreamSchema = z.discriminatedUnion(
  'kind',
  [downstreamKinds.http, downstreamKinds.lambda, downstreamKinds['step-functions'], downstreamKinds.queue],
  ofKind(downstreamKinds),
);

export const destinationSchema = z.discriminatedUnion(
  'kind',
  [destinationKinds.queue, destinationKinds.topic, destinationKinds['event-bus'], destinationKinds.http],
  ofKind(destinationKinds),
);

type KeysByKind = Readonly<Record<string, readonly string[]>>;
const keysOf = (kinds: Readonly<Record<string, { readonly shape: object }>>): KeysByKind =>
  Object.fromEntries(Object.entries(kinds).map(([kind, { shape }]) => [kind, Object.keys(shape)]));

/** The keys of each kind. */
export const downstreamKeys = keysOf(downstreamKinds);
export const destinationKeys = keysOf(destinationKinds);

/** A downstream with the keys that its kind requires, and no others. */
export const requiredOf = (downstream: DownstreamTarget): object => {
  const { shape } = downstreamKinds[downstream.kind];
  return Object.fromEntries(
    Object.entries(downstream).filter(([key]) => {
      const field: z.ZodType | undefined = shape[key as keyof typeof shape];
      return field !== undefined && !field.safeParse(undefined).success;
    }),
  );
};
