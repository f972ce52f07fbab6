/** The list of Targets, operation by operation, as several calls walk it. */
import type { Context } from 'hono';
import { type OperationName, TARGET_MAX_BYTES, type Target } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';
import { InvalidCursor } from '../ports/rows.ts';
import type { ApiDeps } from './deps.ts';
import { textProblems, unless } from './fields.ts';
import { badRequest, readChoice, readPaging } from './input.ts';

/**
 * The page that a request asks for: of one operation, or of those of its Targets that it searches for, or of all
 * operations one after the other.
 *
 * @throws HttpProblem
 */
export const targetPage = async (
  { config, locks }: ApiDeps,
  context: Context,
  usual: number,
): Promise<Page<Target>> => {
  const operations = Object.keys(config.operations);
  const { limit, cursor } = readPaging(context, 100, usual);
  const asked = context.req.query('operation');
  const prefix = readPrefix(context);
  const first = readChoice('operation', asked ?? operations[0], operations);
  const position = cursor === undefined ? { operation: first } : parsePosition(cursor);
  // Of another list: one that is asked for by its operation never leads out of it.
  if (!operations.includes(position.operation) || (asked !== undefined && position.operation !== asked))
    throw new InvalidCursor();
  for (let at: Position = position; ; ) {
    const operation = at.operation as OperationName;
    const { items, cursor: rest } = await locks.targets(operation, limit, at.cursor, prefix);
    const next = rest ? { operation, cursor: rest } : asked ? undefined : nextOperation(operations, operation);
    // An operation of which nothing was registered yet is no page: it would look as if there were nothing at all.
    if (items.length > 0 || !next) return { items, ...(next ? { cursor: printPosition(next) } : {}) };
    at = next;
  }
};

/** Nothing where none is searched for; a search that was emptied is none. @throws HttpProblem */
const readPrefix = ({ req }: Context): string | undefined => {
  const prefix = req.query('prefix') || undefined;
  if (prefix === undefined) return undefined;
  const problems = [
    ...textProblems('prefix', prefix, TARGET_MAX_BYTES),
    ...unless(req.query('operation') !== undefined, 'operation', 'is needed: a search is for Targets of one operation'),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return prefix;
};

/** A page's cursor says in which of the operations it ended. */
interface Position {
  readonly operation: string;
  readonly cursor?: string;
}

const nextOperation = (operations: readonly string[], operation: string): Position | undefined => {
  const next = operations[operations.indexOf(operation) + 1];
  return next === undefined ? undefined : { operation: next };
};

const printPosition = ({ operation, cursor }: Position): string =>
  `${operation}${cursor === undefined ? '' : `.${cursor}`}`;

const parsePosition = (text: string): Position => {
  const [operation = '', cursor] = text.split('.', 2);
  return { operation, ...(cursor ? { cursor } : {}) };
};
