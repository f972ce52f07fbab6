/** The list of Targets, operation by operation, as several calls walk it. */
import type { OperationName, Target } from '../../domain/ids.ts';
import type { Page } from '../../domain/page.ts';
import { InvalidCursor } from '../../ports/rows.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { badRequest, operationAsked } from '../shared/input.ts';

/** Which Targets a request asks for. */
export interface TargetsAsked {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly operation?: string | undefined;
  /** Empty: a search that was emptied is none. */
  readonly prefix?: string | undefined;
}

/**
 * The page that a request asks for: of one operation, or of those of its Targets that it searches for, or of all
 * operations one after the other.
 *
 * @throws HttpProblem
 */
export const targetPage = async (
  { config, locks }: ApiDeps,
  { limit, cursor, operation: asked, prefix }: TargetsAsked,
): Promise<Page<Target>> => {
  const operations = Object.keys(config.operations);
  if (prefix && asked === undefined)
    throw badRequest([{ path: 'operation', reason: 'is needed: a search is for Targets of one operation' }]);
  const first = asked === undefined ? (operations[0] ?? '') : operationAsked(config, asked);
  const position = cursor === undefined ? { operation: first } : parsePosition(cursor);
  // Of another list: one that is asked for by its operation never leads out of it.
  if (!operations.includes(position.operation) || (asked !== undefined && position.operation !== asked))
    throw new InvalidCursor();
  for (let at: Position = position; ; ) {
    const operation = at.operation as OperationName;
    const { items, cursor: rest } = await locks.targets(operation, limit, at.cursor, prefix || undefined);
    const next = rest ? { operation, cursor: rest } : asked ? undefined : nextOperation(operations, operation);
    // An operation of which nothing was registered yet is no page: it would look as if there were nothing at all.
    if (items.length > 0 || !next) return { items, ...(next ? { cursor: printPosition(next) } : {}) };
    at = next;
  }
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
