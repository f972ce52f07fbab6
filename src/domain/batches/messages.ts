/**
 * The messages between the functions. All are hints whose truth is in the tables: any of them may come twice, late or never.
 * `kind` tells apart those of one queue. It is not on the wire, whose names are short: each byte of a message is stored and billed.
 */

import { isObject, parseJson, rawMembers } from '../../util/json-text.ts';
import { parseExecutionEvent } from '../downstream/execution-event.ts';
import type { BatchId, Millis, OperationName, Target, Token } from '../ids.ts';
import { isBatchId, isOperationName, isTarget, isToken } from '../ids.ts';
import { inKnownForm, notOurs, UnreadableMessage } from '../messages.ts';
import type { SentHeld } from './batch.ts';

/** "This Target has waiting tasks and nobody leads it." */
export interface ElectMessage {
  readonly kind: 'elect';
  readonly target: Target;
  /** Its operation has room now: it waited for that since it had this fence. */
  readonly wake?: number;
  /** The pause that is over. */
  readonly resume?: string;
}

/** "This pause of the operation is over." */
export interface ResumeMessage {
  readonly kind: 'resume';
  readonly operation: OperationName;
  /** The pause's id: any other one stands. */
  readonly resume: string;
  /** The pause has ended, and many are woken for that: it goes on (src/steps/slots/wake.ts). */
  readonly waking?: Waking;
}

/** Waking that goes on with the next message. */
export interface Waking {
  /** What the operation shows as long as nobody else wakes its Targets. */
  readonly id: string;
  /** How many more there is room for. @default - any number */
  readonly left?: number;
}

/** A leader's guard (it comes back when the lease would otherwise be forgotten), or a hint that there is work now. */
export interface GroupMessage {
  readonly target: Target;
  readonly fence: number;
  readonly token: Token;
  /** A hint only ever wakes the leader that holds `fence`; it never becomes one. */
  readonly hint?: boolean;
  /** How often this guard was sent again because the leader before it still held the lock (G7). @default 0 */
  readonly early?: number;
}

/** "This batch is sealed", or "its retry is due". */
export interface DueMessage {
  readonly kind: 'due';
  readonly batchId: BatchId;
  /** When its call may be made, as was reserved under the operation's rate. */
  readonly at?: Millis;
  /** The line that this was reserved in, by when that began. */
  readonly line?: Millis | undefined;
  /** The attempt whose results could not be stored: the one after it takes its place and does not count. */
  readonly uncounted?: number | undefined;
  /** A slot of its operation was freed, for which the batch waited. */
  readonly woken?: boolean;
  /** A pause holds the batch up: which of its messages this is. */
  readonly held?: SentHeld;
}

/** "This batch's job has ended", from whoever ran the job. */
export interface CompletionMessage {
  readonly kind: 'completion';
  readonly batchId: BatchId;
  /** What became of its items: JSON as sent, to be a list of results. Null: all succeeded. */
  readonly results: string | null;
  /** What became of the inputs of a merged job, likewise; then there are no results. */
  readonly inputs?: string;
  /** How often this was sent again because an attempt was under way. @default 0 */
  readonly early?: number;
}

export type BatchMessage = DueMessage | CompletionMessage;

/** A batch's message as it is sent again; a moment that was reserved for its call is not kept. */
export const again = ({ batchId, uncounted }: DueMessage): DueMessage =>
  uncounted === undefined ? { kind: 'due', batchId } : { kind: 'due', batchId, uncounted };

export const printElect = (message: ElectMessage | ResumeMessage): string =>
  message.kind === 'resume'
    ? JSON.stringify({ operation: message.operation, resume: message.resume, waking: message.waking })
    : JSON.stringify({ target: message.target, wake: message.wake, resume: message.resume });

export const printGroup = ({ target, fence, token, hint, early }: GroupMessage): string =>
  JSON.stringify({ target, f: fence, token, ...(hint ? { hint } : {}), ...(early ? { early } : {}) });

export const printBatch = (message: BatchMessage): string => {
  if (message.kind === 'completion') return printCompletion(message);
  const { kind: _, batchId, ...rest } = message;
  return JSON.stringify({ b: batchId, ...rest });
};

const printCompletion = ({ batchId, results, inputs, early }: CompletionMessage): string => {
  const rest = [
    ...(early ? [`,"early":${early}`] : []),
    ...(results === null ? [] : [`,"results":${results}`]),
    ...(inputs === undefined ? [] : [`,"inputs":${inputs}`]),
  ];
  return `{"batchId":${JSON.stringify(batchId)}${rest.join('')}}`;
};

/** @throws UnreadableMessage, NewerMessage */
export const parseElect = (body: string): ElectMessage | ResumeMessage => {
  const { target, operation, wake, resume, waking } = inKnownForm(fields(body));
  const isFit = resume === undefined || isToken(resume);
  if (isFit && resume !== undefined && isOperationName(operation))
    return { kind: 'resume', operation, resume, ...(isWaking(waking) ? { waking } : {}) };
  if (!isFit || !isTarget(target) || !(wake === undefined || Number.isSafeInteger(wake)))
    throw notOurs('{target}', body);
  return {
    kind: 'elect',
    target,
    ...(wake === undefined ? {} : { wake: wake as number }),
    ...(resume === undefined ? {} : { resume }),
  };
};

/** @throws UnreadableMessage, NewerMessage */
export const parseGroup = (body: string): GroupMessage => {
  const { target, f, token, hint, early } = inKnownForm(fields(body));
  if (!isTarget(target) || !Number.isSafeInteger(f) || !isToken(token)) throw notOurs('{target, f, token}', body);
  return {
    target,
    fence: f as number,
    token,
    ...(hint === true ? { hint } : {}),
    ...(isCount(early) ? { early } : {}),
  };
};

/** @throws UnreadableMessage, NewerMessage */
export const parseBatch = (body: string): BatchMessage => {
  const execution = parseExecutionEvent(body);
  if (execution && 'problem' in execution) throw new UnreadableMessage(execution.problem, body);
  if (execution) return { kind: 'completion', ...execution };
  const message = fields(body);
  // What reports of a job is written by others, and has no form of ours.
  const { b, batchId = b, results, inputs } = message.b === undefined ? message : inKnownForm(message);
  if (!isBatchId(batchId)) throw notOurs('{b} or {batchId, results}', body);
  const { at, line, uncounted, woken, held, early } = message;
  if (b === undefined || results !== undefined || inputs !== undefined)
    return { ...completionIn(batchId, body), ...(isCount(early) ? { early } : {}) };
  return {
    kind: 'due',
    batchId,
    ...(isMoment(at) ? { at } : {}),
    ...(isMoment(line) ? { line } : {}),
    ...(isCount(uncounted) ? { uncounted } : {}),
    ...(woken === true ? { woken } : {}),
    ...(isHeld(held) ? { held: heldIn(held) } : {}),
  };
};

/** Results stand before inputs, where there are both. */
const completionIn = (batchId: BatchId, body: string): CompletionMessage => {
  const raw = rawMembers(body);
  const [results, inputs] = [raw.get('results') ?? null, raw.get('inputs')];
  return { kind: 'completion', batchId, results, ...(inputs === undefined || results !== null ? {} : { inputs }) };
};

const isWaking = (value: unknown): value is Waking =>
  isObject(value) && isToken(value.id) && (value.left === undefined || isCount(value.left));

const isHeld = (value: unknown): value is SentHeld => isObject(value) && isToken(value.by) && isCount(value.span);

const heldIn = ({ by, span, after }: SentHeld): SentHeld => ({ by, span, ...(isToken(after) ? { after } : {}) });

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

const isMoment = (value: unknown): value is Millis => Number.isSafeInteger(value) && (value as Millis) >= 0;

const fields = (body: string): Record<string, unknown> => {
  const json = parseJson(body);
  // No fields: every caller reports them as unreadable.
  return json.ok && isObject(json.value) ? json.value : {};
};
