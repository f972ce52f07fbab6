/** Reads what a caller sent, and refuses what cannot be meant. */
import type { Context, MiddlewareHandler } from 'hono';
import { isTarget, type Target } from '../domain/ids.ts';
import { isObject, parseJson, rawElements, rawMembers } from '../util/json-text.ts';
import type { Problem } from '../util/problems.ts';
import { utf8 } from '../util/utf8.ts';
import { HttpProblem } from './problem.ts';

/** Of answers into which texts are spliced as they came. */
export const JSON_TYPE = { 'content-type': 'application/json' };

/** What one `POST /tasks` takes at the most. */
export const TASKS_MAX = 1_000;

/** The raw texts of a request's tasks, and how to name each in an error. */
export interface SentTasks {
  readonly texts: readonly string[];
  /** Where in the body a path into a task is: there when the body is the one task, otherwise `tasks[3].payload`. */
  pathOf(index: number, path: string): string;
}

/** 400 with every error; nothing was done. */
export const badRequest = (errors: readonly Problem[]): HttpProblem =>
  new HttpProblem(400, 'the request is not valid; nothing was done', errors);

/** The body as text, without a byte order mark. @throws HttpProblem */
export const readText = async ({ req }: Context): Promise<string> => {
  const text = utf8(new Uint8Array(await req.arrayBuffer()));
  if (text === undefined) throw badRequest([{ path: '', reason: 'the body is not UTF-8' }]);
  return text.replace(/^\ufeff/, '');
};

/** The body as an object; one that is missing has nothing in it. @throws HttpProblem */
export const readOptionalObject = (text: string): Record<string, unknown> => readObject(text === '' ? '{}' : text);

/** The body as an object. @throws HttpProblem */
export const readObject = (text: string): Record<string, unknown> => {
  const json = parseJson(text);
  if (!json.ok) throw badRequest(json.problems.map(({ reason }) => ({ path: '', reason: `the body ${reason}` })));
  if (!isObject(json.value)) throw badRequest([{ path: '', reason: 'the body must be a JSON object' }]);
  return json.value;
};

/** Of some names those that are not known, each with the reason. */
const unknownNames = (names: readonly string[], known: readonly string[], reason: string): Problem[] =>
  names.filter((name) => !known.includes(name)).map((name) => ({ path: name.slice(0, 100), reason }));

/** Fields that nobody reads: a misspelt one would be taken for none. */
export const unknownFields = (body: object, known: readonly string[]): Problem[] => {
  const rest =
    known.length > 0 ? `; known are ${known.join(', ')}` : ': this call takes no body, only what its query says';
  return unknownNames(Object.keys(body), known, `is unknown${rest}`);
};

/** For a call without one: whoever asks for less in a body, or for a dry run, must not get all of it. @throws HttpProblem */
export const refuseBody = async (context: Context): Promise<void> => {
  const fields = unknownFields(readOptionalObject(await readText(context)), []);
  if (fields.length > 0) throw badRequest(fields);
};

/**
 * Says which query parameters a call knows, and refuses all others: a filter that is misspelt, or a `dryRun` that belongs
 * into the body, would be taken for none.
 */
export const takesQuery =
  (...known: readonly string[]): MiddlewareHandler =>
  async ({ req }, next) => {
    const rest = known.length > 0 ? `known are ${known.join(', ')}` : 'this call has none, only what its body says';
    const odd = unknownNames(Object.keys(req.queries()), known, `is no query parameter: ${rest}`);
    if (odd.length > 0) throw badRequest(odd);
    await next();
  };

/** A dry run is said by `"dryRun": true`; whoever says it otherwise must not get a real one. */
export const dryRunProblems = ({ dryRun = false }: Record<string, unknown>): Problem[] =>
  typeof dryRun === 'boolean' ? [] : [{ path: 'dryRun', reason: 'must be true or false' }];
export const isDryRun = ({ dryRun }: Record<string, unknown>): boolean => dryRun === true;

/** The cursor of a list that is asked for by a body. */
export const cursorProblems = ({ cursor = '' }: Record<string, unknown>): Problem[] =>
  typeof cursor === 'string' ? [] : [{ path: 'cursor', reason: 'must be a text' }];

/** One task, or a list of them under `tasks`. @throws HttpProblem */
export const readTasks = (text: string): SentTasks => {
  const body = readObject(text);
  if (!Object.hasOwn(body, 'tasks')) return { texts: [text], pathOf: (_, path) => path };
  const others = Object.keys(body).filter((key) => key !== 'tasks');
  const errors = others.map((path): Problem => ({ path, reason: 'is not a field beside `tasks`' }));
  const { tasks } = body;
  if (!Array.isArray(tasks)) errors.push({ path: 'tasks', reason: 'must be a list' });
  else if (tasks.length === 0 || tasks.length > TASKS_MAX)
    errors.push({ path: 'tasks', reason: `must have 1 to ${TASKS_MAX} elements, not ${tasks.length}` });
  if (errors.length > 0) throw badRequest(errors);
  return {
    texts: rawElements(rawMembers(text).get('tasks') ?? '[]'),
    pathOf: (index, path) => `tasks[${index}]${path && `.${path}`}`,
  };
};

/** A Target that may exist. @throws HttpProblem */
export const readTarget = (value: unknown): Target => {
  if (isTarget(value)) return value;
  throw badRequest([
    { path: 'target', reason: 'must be a Target, such as "distribute-parcels/carrier=DHL/depot=MUC"' },
  ]);
};

/** The `limit` and `cursor` of a list. @throws HttpProblem */
export const readPaging = (
  context: Context,
  most: number,
  usual: number,
): { limit: number; cursor: string | undefined } => {
  const { limit, problems } = readLimit(context, most, usual);
  if (problems.length > 0) throw badRequest(problems);
  return { limit, cursor: context.req.query('cursor') };
};

/** The `limit` of a list whose elements are numbered, and `from` where it is to go on. @throws HttpProblem */
export const readPlace = (context: Context, most: number, usual: number): { limit: number; from: number } => {
  const from = context.req.query('from') ?? '0';
  const { limit, problems } = readLimit(context, most, usual);
  const isNumber = /^(0|[1-9]\d{0,11})$/.test(from);
  const all = [...(isNumber ? [] : [{ path: 'from', reason: 'must be a whole number, 0 or more' }]), ...problems];
  if (all.length > 0) throw badRequest(all);
  return { limit, from: Number(from) };
};

const readLimit = ({ req }: Context, most: number, usual: number): { limit: number; problems: readonly Problem[] } => {
  const text = req.query('limit') ?? String(usual);
  const limit = Number(text);
  // A number has many more ways to be written, which hardly anybody means.
  const isFit = /^[1-9]\d{0,3}$/.test(text) && limit <= most;
  return { limit, problems: isFit ? [] : [{ path: 'limit', reason: `must be a whole number from 1 to ${most}` }] };
};

/** One of some words. @throws HttpProblem */
export const readChoice = <Choice extends string>(
  name: string,
  value: string | undefined,
  choices: readonly Choice[],
): Choice => {
  const choice = choices.find((each) => each === value);
  if (!choice) throw badRequest([{ path: name, reason: `must be one of ${choices.join(', ')}` }]);
  return choice;
};
