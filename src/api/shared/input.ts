/** Reads and checks requests. */
import type { Context } from 'hono';
import * as z from 'zod/mini';
import type { Config } from '../../domain/config/resolved.ts';
import type { OperationName } from '../../domain/ids.ts';
import { bytesInString, isObject, parseJson } from '../../util/json-text.ts';
import type { Problem } from '../../util/problems.ts';
import { utf8 } from '../../util/utf8.ts';
import { HttpProblem } from './problem.ts';

/** The headers of answers that are assembled as text, with stored JSON inserted unchanged. */
export const JSON_TYPE = { 'content-type': 'application/json' };

/** The 400 problem, with all errors of the request. */
export const badRequest = (errors: readonly Problem[]): HttpProblem =>
  new HttpProblem(400, 'the request is invalid; nothing was done', errors);

/**
 * Most bytes of a body inside the event of a function, counted as by Lambda. An event may have 6 MiB (6,291,456 bytes).
 * The rest is for headers, path and query.
 */
export const BODY_MAX_BYTES = 6_200_000;

/**
 * Whether a function's event has the body as text, and not in base64. Locally there is no event; a function URL passes
 * bodies of these types on as text.
 */
const isText = ({ env, req }: Context): boolean => {
  const { event } = (env ?? {}) as { readonly event?: { readonly isBase64Encoded?: boolean } };
  if (event !== undefined) return event.isBase64Encoded !== true;
  return /^(?:application\/json|text\/)/i.test(req.header('content-type') ?? '');
};

export const tooLarge = (context: Context): HttpProblem => {
  const [how, remedy] = isText(context)
    ? ['each quotation mark, backslash and line break counts twice', '']
    : ['a body that is neither JSON nor text counts by a third more', 'set content-type: application/json, or '];
  return new HttpProblem(
    413,
    `the body is larger than ${BODY_MAX_BYTES} bytes, as Lambda counts them: ${how}. Nothing was done. To fix this, ${remedy}send fewer tasks, jobs or results in one request`,
  );
};

/** The body as text, without a byte order mark. @throws HttpProblem */
export const readText = async (context: Context): Promise<string> => {
  const bytes = new Uint8Array(await context.req.arrayBuffer());
  const text = utf8(bytes);
  if (text === undefined) throw badRequest([{ path: '', reason: 'the body is not UTF-8' }]);
  const inEvent = isText(context) ? bytesInString(text) : Math.ceil(bytes.byteLength / 3) * 4;
  if (inEvent > BODY_MAX_BYTES) throw tooLarge(context);
  return text.replace(/^\ufeff/, '');
};

/** The body as an object. @throws HttpProblem */
export const readObject = (text: string): Record<string, unknown> => {
  const json = parseJson(text);
  if (!json.ok) throw badRequest(json.problems.map(({ reason }) => ({ path: '', reason: `the body ${reason}` })));
  if (!isObject(json.value)) throw badRequest([{ path: '', reason: 'the body must be a JSON object' }]);
  return json.value;
};

/** The type that a schema produces. */
export type Of<Schema> = Schema extends z.core.$ZodType ? z.output<Schema> : undefined;

/** Whether a call accepts a request without a body. A missing body counts as an empty object. */
export const isOptional = (body: z.core.$ZodType): boolean => z.safeParse(body, {}).success;

/** @param beside finds additional problems in the body. @throws HttpProblem */
export const readBody = <Schema extends z.core.$ZodType | undefined>(
  schema: Schema,
  text: string,
  beside: (body: Readonly<Record<string, unknown>>) => readonly Problem[] = () => [],
): Of<Schema> => {
  if (schema === undefined) return undefined as Of<Schema>;
  const body = readObject(text === '' && isOptional(schema) ? '{}' : text);
  const read = z.safeParse(schema, body);
  const problems = [...(read.success ? [] : problemsIn(read.error.issues)), ...beside(body)];
  if (problems.length > 0) throw badRequest(problems);
  return read.data as Of<Schema>;
};

/** @throws HttpProblem */
export const readQuery = <Schema extends z.core.$ZodType | undefined>(
  schema: Schema,
  query: Readonly<Record<string, string>>,
): Of<Schema> => {
  if (schema === undefined) return undefined as Of<Schema>;
  const read = z.safeParse(schema, query);
  if (!read.success) throw badRequest(problemsIn(read.error.issues));
  return read.data as Of<Schema>;
};

/**
 * Refuses unknown query parameters. Without this check, a misspelt filter would be ignored, and so would a `dryRun` in
 * the query instead of the body. @throws HttpProblem
 */
export const expectQuery = ({ req }: Context, known: readonly string[]): void => {
  const rest = known.length > 0 ? `known are ${known.join(', ')}` : 'this call has no query parameters';
  const odd = Object.keys(req.queries()).filter((name) => !known.includes(name));
  if (odd.length > 0)
    throw badRequest(odd.map((name) => ({ path: shown(name), reason: `is not a query parameter: ${rest}` })));
};

/** Checks that an operation in a query is configured. @throws HttpProblem */
export const operationAsked = ({ operations }: Config, asked: string): OperationName => {
  const names = Object.keys(operations);
  if (names.includes(asked)) return asked as OperationName;
  throw badRequest([{ path: 'operation', reason: `must be one of ${names.join(', ')}` }]);
};

const shown = (name: string): string => name.slice(0, 100);

type Issue = z.core.$ZodIssue;

/** @param at the path of the value in which the issues were found */
const problemsIn = (issues: readonly Issue[], at: readonly PropertyKey[] = []): readonly Problem[] =>
  unknownFirst(issues).flatMap((issue): readonly Problem[] => {
    const path = [...at, ...issue.path];
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: placeOf([...path, shown(key)]), reason: issue.message }));
    const form = issue.code === 'invalid_union' ? formMeant(issue.errors) : undefined;
    return form ? problemsIn(form, path) : [{ path: placeOf(path), reason: issue.message }];
  });

/** Prints the path of a value, such as `jobs[3].payload`. */
const placeOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');

/** Moves the errors about unknown fields of an object before the errors of its known fields. */
const unknownFirst = (issues: readonly Issue[]): readonly Issue[] => {
  const all: Issue[] = [];
  for (const issue of issues) {
    const isWithin = ({ path }: Issue): boolean => issue.path.every((part, index) => path[index] === part);
    const first = issue.code === 'unrecognized_keys' ? all.findIndex(isWithin) : -1;
    all.splice(first < 0 ? all.length : first, 0, issue);
  }
  return all;
};

/**
 * The issues of the form that the caller most likely meant. It is the only form that has all fields of the request, or
 * the only form of the value's type. Undefined if several forms qualify.
 */
const formMeant = (forms: readonly (readonly Issue[])[]): readonly Issue[] | undefined => {
  const isUnknown = ({ code }: Issue): boolean => code === 'unrecognized_keys';
  const ofType = forms.filter((issues) => issues.every((issue) => issue.path.length > 0 || isUnknown(issue)));
  const known = ofType.filter((issues) => !issues.some(isUnknown));
  const [only, ...others] = known.length > 0 ? known : ofType;
  return others.length > 0 ? undefined : only;
};
