/**
 * The messages of the rejected queue: a rejected message and the reasons. People read them, and Groupage sends their
 * bodies again on request.
 */

import { isObject, parseJson } from '../../util/json-text.ts';
import { PROBLEMS_SHOWN, type Problem } from '../../util/problems.ts';
import type { Millis } from '../ids.ts';
import { SQS_MAX_BYTES } from '../messages.ts';
import { parseSender, printSender, type Sender } from '../producers/sender.ts';

/** A rejected message, as it is sent to the rejected queue. */
export interface Rejection {
  readonly messageId: string;
  readonly body: string;
  readonly problems: readonly Problem[];
  readonly at: Millis;
  /** When a rejected register message was first sent. If the message is sent again, it keeps this time. */
  readonly sentAt?: Millis;
  /** Who sent a rejected register message. If the message is sent again, it keeps this sender. */
  readonly sender?: Sender;
  /**
   * Set for an event of the callback queue. Only such a message may return to that queue: a producer can send a
   * register message that looks like an event, and it must not be delivered as one.
   */
  readonly queue?: 'callback';
}

/**
 * Prints the reasons and the unchanged body. If both do not fit into one message, the body is cut, and the message says
 * so.
 */
export const printRejection = ({ messageId, body, problems, at, sentAt, sender, queue }: Rejection): string => {
  const more = problems.length > PROBLEMS_SHOWN ? { errorsInAll: problems.length } : {};
  const envelope = {
    messageId,
    ...(queue === undefined ? {} : { queue }),
    ...(sentAt === undefined ? {} : { sentAt: new Date(sentAt).toISOString() }),
    ...(sender === undefined ? {} : { sender: printSender(sender) }),
    rejectedAt: new Date(at).toISOString(),
    errors: problems.slice(0, PROBLEMS_SHOWN),
    ...more,
  };
  const whole = JSON.stringify({ ...envelope, body });
  if (Buffer.byteLength(whole) <= SQS_MAX_BYTES) return whole;
  // An eighth of the limit, since JSON may write one character as six.
  const part = body.slice(0, SQS_MAX_BYTES / 8);
  return JSON.stringify({ ...envelope, body: part, bodyBytes: Buffer.byteLength(body), bodyIsCut: true });
};

/** A rejected message, as far as it was stored. */
export interface KeptMessage {
  readonly messageId: string;
  readonly body: string;
  readonly problems: readonly Problem[];
  /** The number of all problems, which may be more than are stored. */
  readonly problemsInAll: number;
  readonly isCut: boolean;
  /** The bytes of the whole body. */
  readonly bodyBytes: number;
  readonly sentAt?: Millis;
  readonly sender?: Sender;
  /** Whether the message is an event from the callback queue. */
  readonly isEvent: boolean;
}

/** Reads a message of the rejected queue. Undefined if Groupage did not write it. */
export const parseRejection = (text: string): KeptMessage | undefined => {
  const json = parseJson(text);
  if (!json.ok || !isObject(json.value)) return undefined;
  const { messageId, body, errors, errorsInAll, bodyIsCut, bodyBytes, queue } = json.value;
  const sender = typeof json.value.sender === 'string' ? parseSender(json.value.sender) : undefined;
  const sentAt = Date.parse(String(json.value.sentAt));
  if (typeof messageId !== 'string' || typeof body !== 'string') return undefined;
  const problems = Array.isArray(errors) ? errors.filter(isProblem) : [];
  return {
    messageId,
    body,
    problems,
    problemsInAll: typeof errorsInAll === 'number' ? errorsInAll : problems.length,
    isCut: bodyIsCut === true,
    bodyBytes: typeof bodyBytes === 'number' ? bodyBytes : Buffer.byteLength(body),
    isEvent: queue === 'callback',
    ...(Number.isNaN(sentAt) ? {} : { sentAt }),
    ...(sender === undefined ? {} : { sender }),
  };
};

const isProblem = (value: unknown): value is Problem =>
  isObject(value) && typeof value.path === 'string' && typeof value.reason === 'string';
