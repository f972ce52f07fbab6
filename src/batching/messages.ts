/**
 * The messages between the λs. All are hints whose truth is in the tables: any of them may come twice, late or never.
 */
import { type BatchId, isBatchId, isTarget, isToken, type Target, type Token } from './ids.ts';
import { isObject, parseJson } from './json-text.ts';

/** What SQS takes as one message, and as one request of several. */
export const SQS_MAX_BYTES = 1_048_576;

/** "This Target has waiting tasks and nobody leads it." */
export interface ElectMessage {
  readonly target: Target;
}

/** A leader's guard (it comes back when the lease would otherwise be forgotten), or a hint that there is work now. */
export interface GroupMessage {
  readonly target: Target;
  readonly fence: number;
  readonly token: Token;
  /** A hint only ever wakes the leader that holds `fence`; it never becomes one. */
  readonly hint?: boolean;
}

/** "This batch is sealed", or "its retry is due". */
export interface BatchMessage {
  readonly batchId: BatchId;
}

/** Short names on the wire, since every byte of a message is stored and billed. */
export const printElect = ({ target }: ElectMessage): string => JSON.stringify({ target });
export const printGroup = ({ target, fence, token, hint }: GroupMessage): string =>
  JSON.stringify({ target, f: fence, token, ...(hint ? { hint } : {}) });
export const printBatch = ({ batchId }: BatchMessage): string => JSON.stringify({ b: batchId });

/** A message on one of the inner queues that none of the λs wrote. */
export class UnreadableMessage extends Error {
  override readonly name = 'UnreadableMessage';
  readonly body: string;
  constructor(expected: string, body: string) {
    super(`not a message that Groupage sends (${expected} expected): only its own λs may write to this queue`);
    this.body = body;
  }
}

/** @throws UnreadableMessage */
export const parseElect = (body: string): ElectMessage => {
  const { target } = fields(body);
  if (!isTarget(target)) throw new UnreadableMessage('{target}', body);
  return { target };
};

/** @throws UnreadableMessage */
export const parseGroup = (body: string): GroupMessage => {
  const { target, f, token, hint } = fields(body);
  if (!isTarget(target) || !Number.isSafeInteger(f) || !isToken(token))
    throw new UnreadableMessage('{target, f, token}', body);
  return { target, fence: f as number, token, ...(hint === true ? { hint } : {}) };
};

/** @throws UnreadableMessage */
export const parseBatch = (body: string): BatchMessage => {
  const { b } = fields(body);
  if (!isBatchId(b)) throw new UnreadableMessage('{b}', body);
  return { batchId: b };
};

const fields = (body: string): Record<string, unknown> => {
  const json = parseJson(body);
  // No fields: every caller reports them as unreadable.
  return json.ok && isObject(json.value) ? json.value : {};
};
