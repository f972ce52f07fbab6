/** Downstreams and destinations: the only addresses there are. */
import * as z from 'zod';
import { MINUTE } from '../../batching/timings.ts';
import { DAY, duration, must, section, text } from './rules.ts';

const ARN = 'arn:aws[a-z-]*:';
const oneOf = (service: string, name: string): RegExp => new RegExp(`^(?:${name}|${ARN}${service}:[^\\s*?]{1,500})$`);

const queueName = text(oneOf('sqs', '[A-Za-z0-9_-]{1,80}'), 'the name or the ARN of a standard queue');
const topicName = text(oneOf('sns', '[A-Za-z0-9_-]{1,256}'), 'the name or the ARN of a standard topic');
const busName = text(oneOf('events', '[A-Za-z0-9._/-]{1,256}'), 'the name or the ARN of an event bus');
const functionName = text(oneOf('lambda', '[A-Za-z0-9_-]{1,64}'), 'the name or the ARN of a function');
const machineName = text(oneOf('states', '[A-Za-z0-9_-]{1,80}'), 'the name or the ARN of a state machine');

const secretSchema = z.union(
  [
    section({ ssm: text(/^[A-Za-z0-9_./-]{1,1000}$/, 'the name of a parameter') }),
    section({
      secretsManager: text(oneOf('secretsmanager', '[A-Za-z0-9/_+=.@-]{1,512}'), 'the name or the ARN of a secret'),
    }),
  ],
  // Not shown: it may be the secret itself.
  { error: 'must say where the secret lies: {"ssm": its name} or {"secretsManager": its name or ARN}' },
);

const url = z.string(must('a URL')).superRefine((address, context) => {
  const parsed = URL.parse(address);
  if (!parsed || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:'))
    // Not shown: what is wrong with it may be a password.
    context.addIssue('must be an http or https URL such as https://parcels.example/batch');
  // A configuration is committed and logged: it is no place for a password.
  else if (parsed.username || parsed.password) context.addIssue('must not contain a user name or password');
});

/** Set by every call. */
const OWN_HEADERS = /^(?:content-type|content-length|host|connection|transfer-encoding|idempotency-key|groupage-.*)$/i;
/** Whatever their value is, it is no business of those who read a configuration. */
const SECRET_HEADERS = /^(?:authorization|proxy-authorization|cookie|.*(?:api-?key|token|secret|password).*)$/i;

const headers = z
  .record(
    z.string(),
    z.union([text(/^[\t\x20-\x7e]{0,1000}$/, 'a text of printable ASCII characters'), secretSchema], {
      error: 'must be a text, or {"ssm": …} or {"secretsManager": …} for one that is secret',
    }),
    must('an object of headers'),
  )
  .superRefine((all, context) => {
    for (const [name, value] of Object.entries(all)) {
      const refuse = (message: string) => context.addIssue({ code: 'custom', path: [name], message });
      if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) refuse('is no name for a header');
      else if (OWN_HEADERS.test(name)) refuse('is a header that Groupage sets itself');
      else if (SECRET_HEADERS.test(name) && typeof value === 'string')
        refuse('is secret: say where it lies, {"ssm": …} or {"secretsManager": …}, since a configuration is committed');
    }
  })
  .default({});

// Node's fetch gives up by itself after five minutes without an answer.
const httpTimeout = duration(100, 4 * MINUTE).default(10_000);
const deadline = duration(MINUTE, 7 * DAY).default(60 * MINUTE);

const downstreamKinds = {
  http: section({
    kind: z.literal('http'),
    url,
    headers,
    secret: secretSchema.nullable().default(null),
    timeout: httpTimeout,
    deadline,
  }),
  lambda: section({
    kind: z.literal('lambda'),
    function: functionName,
    timeout: duration(100, 14 * MINUTE).default(10_000),
    deadline,
  }),
  'step-functions': section({
    kind: z.literal('step-functions'),
    stateMachine: machineName,
    timeout: httpTimeout,
    deadline,
  }),
  queue: section({ kind: z.literal('queue'), name: queueName, timeout: httpTimeout, deadline }),
};

const named = (kind: 'queue' | 'topic' | 'event-bus', name: typeof queueName) =>
  section({ kind: z.literal(kind), name });

const destinationKinds = {
  queue: named('queue', queueName),
  topic: named('topic', topicName),
  'event-bus': named('event-bus', busName),
  http: section({ kind: z.literal('http'), url, headers, secret: secretSchema, timeout: httpTimeout }),
};

const listed = (kinds: object): string => {
  const names = Object.keys(kinds).map((kind) => `"${kind}"`);
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
};

/** A wrong kind is told as such; of a right one, what is wrong with it. */
const ofKind = (kinds: object) => ({
  error: ({ code, input }: { code?: string; input?: unknown }) =>
    code !== 'invalid_union'
      ? must('an object').error({ input })
      : must(listed(kinds)).error({ input: (input as { kind?: unknown } | undefined)?.kind }),
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

const keysOf = (kinds: Readonly<Record<string, { readonly shape: object }>>): readonly string[] => [
  ...new Set(Object.values(kinds).flatMap(({ shape }) => Object.keys(shape))),
];
/** What may be meant by an unknown key. */
export const downstreamKeys = keysOf(downstreamKinds);
export const destinationKeys = keysOf(destinationKinds);
