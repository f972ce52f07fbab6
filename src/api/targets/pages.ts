/** The list of Targets, operation by operation, over several requests. */
import type { OperationName, Target } from '../../domain/ids.ts';
import type { Page } from '../../domain/page.ts';
import { InvalidCursor } from '../../ports/rows.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { badRequest, operationAsked } from '../shared/input.ts';

/** The Targets that a request selects. */
export interface TargetsAsked {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly operation?: string | undefined;
  /** An empty prefix selects all Targets. */
  readonly prefix?: string | undefined;
}

/**
 * Reads one page of Targets: of one operation, of one operation with a prefix, or of all operations in turn.
 *
 * @throws HttpProblem
 */
export const targetPage = async (
  { config, locks }: ApiDeps,
  { limit, cursor, operation: asked, prefix }: TargetsAsked,
): Promise<Page<Target>> => {
  const operations = Object.keys(config.operations);
  if (prefix && asked === undefined)
    throw badRequest([{ path: 'operation', reason: 'is required with `prefix`: a search covers one operation' }]);
  const first = asked === undefined ? (operations[0] ?? '') : operationAsked(config, asked);
  const position = cursor === undefined ? { operation: first } : parsePosition(cursor);
  // Refuse a cursor of another list, because a list of one operation must not continue with another operation.
  if (!operations.includes(position.operation) || (asked !== undefined && position.operation !== asked))
    throw new InvalidCursor();
  for (let at: Position = position; ; ) {
    const operation = at.operation as OperationName;
    const { items, cursor: rest } = await locks.targets(operation, limit, at.cursor, prefix || undefined);
    const next = rest ? { operation, cursor: rest } : asked ? undefined : nextOperation(operations, operation);
    // Skip operations without Targets, because an empty first page would look as if no Target existed.
    if (items.length > 0 || !next) return { items, ...(next ? { cursor: printPosition(next) } : {}) };
    at = next;
  }
};

/** The position that a cursor encodes: an operation, and the cursor in the list of the operation. */
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
