/** Schemas of headers and secrets. A configuration is committed and logged, so it refers to secrets and never holds one. */
import * as z from 'zod';
import { PARAMETER_NAME, SECRET_NAME } from './names.ts';
import { mustUnseen, section, text } from './rules.ts';

const secretKinds = {
  ssm: text(PARAMETER_NAME, 'the name of a parameter'),
  secretsManager: text(SECRET_NAME, 'the name or the ARN of a secret'),
};
export const secretKeys = Object.keys(secretKinds);

const { ssm, secretsManager } = secretKinds;
const WHERE = '{"ssm": the name of a parameter} or {"secretsManager": the name or ARN of a secret}';

export const secretSchema = z.union(
  [section({ ssm }), section({ secretsManager })],
  // Do not show the value in the message, because it may be the secret.
  { error: `must refer to a secret, as one of ${WHERE}` },
);

/** Headers that Groupage sets on every call, or that the connection sets. */
export const OWN_HEADERS =
  /^(?:content-type|content-length|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|idempotency-key|traceparent|groupage-.*)$/i;
/** Headers whose values are secret, judged by their names. */
const SECRET_HEADERS = /^(?:cookie|.*(?:auth|api-?key|access-?key|token|secret|passw|credential|signature).*)$/i;
export const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

const faultOf = (name: string, value: unknown): string | undefined => {
  if (OWN_HEADERS.test(name)) return 'is a header that Groupage sets itself: leave it out';
  if (SECRET_HEADERS.test(name) && typeof value === 'string')
    return 'is a secret, and a configuration is committed: refer to it as {"ssm": …} or {"secretsManager": …}';
  return undefined;
};

export const headersSchema = z
  .record(
    z.string(),
    z.union([text(/^[\t\x20-\x7e]{0,1000}$/, 'a text of printable ASCII characters'), secretSchema], {
      error: `must be a text of at most 1,000 printable ASCII characters, or refer to a secret, as one of ${WHERE}`,
    }),
    mustUnseen('an object of headers and their values'),
  )
  .superRefine((headers, context) => {
    const seen = new Set<string>();
    for (const [index, [name, value]] of Object.entries(headers).entries()) {
      if (!HEADER_NAME.test(name)) {
        // The message does not show the name: it may be "Authorization: Bearer …", with the secret in it.
        context.addIssue(`has an invalid header name (header number ${index + 1})`);
        continue;
      }
      const fault = seen.has(name.toLowerCase())
        ? 'is set twice: header names are not case-sensitive'
        : faultOf(name, value);
      seen.add(name.toLowerCase());
      if (fault) context.addIssue({ code: 'custom', path: [name], message: fault });
    }
  })
  .meta({ propertyNames: { pattern: HEADER_NAME.source } })
  .default({});
