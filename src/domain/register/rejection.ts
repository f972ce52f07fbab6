/** What lies in the rejected queue: a message as it came, and why it was refused. For people, and for whoever sends it again. */

import { isObject, parseJson } from '../../util/json-text.ts';
import { PROBLEMS_SHOWN, type Problem } from '../../util/problems.ts';
import type { Millis } from '../ids.ts';
import { SQS_MAX_BYTES } from '../messages.ts';

/** A refused message, for the rejected queue. */
export interface Rejection {
  readonly messageId: string;
  readonly body: string;
  readonly problems: readonly Problem[];
  readonly at: Millis;
  /** When a refused register message was sent first: it is no newer when it is sent again. */
  readonly sentAt?: Millis;
  /**
   * Set for an event of the callback queue. Only that goes back there: a producer may send a message that looks like one,
   * and must not speak for Groupage.
   */
  readonly queue?: 'callback';
}

/**
 * The reasons, and the body as it came. A body that leaves no room for its reasons is cut, which the message says.
 */
export const printRejection = ({ messageId, body, problems, at, sentAt, queue }: Rejection): string => {
  const more = problems.length > PROBLEMS_SHOWN ? { errorsInAll: problems.length } : {};
  const envelope = {
    messageId,
    ...(queue === undefined ? {} : { queue }),
    ...(sentAt === undefined ? {} : { sentAt: new Date(sentAt).toISOString() }),
    rejectedAt: new Date(at).toISOString(),
    errors: problems.slice(0, PROBLEMS_SHOWN),
    ...more,
  };
  const whole = JSON.stringify({ ...envelope, body });
  if (Buffer.byteLength(whole) <= SQS_MAX_BYTES) return whole;
  // An eighth, since JSON may write one character as six.
  const part = body.slice(0, SQS_MAX_BYTES / 8);
  return JSON.stringify({ ...envelope, body: part, bodyBytes: Buffer.byteLength(body), bodyIsCut: true });
};

/** The message that was refused, as far as it was kept. */
export interface KeptMessage {
  readonly messageId: string;
  readonly body: string;
  readonly problems: readonly Problem[];
  readonly isCut: boolean;
  readonly sentAt?: Millis;
  /** Whether it came from the callback queue. */
  readonly isEvent: boolean;
}

/** Reads a message of the rejected queue. Undefined for one that Groupage did not write. */
export const parseRejection = (text: string): KeptMessage | undefined => {
  const json = parseJson(text);
  if (!json.ok || !isObject(json.value)) return undefined;
  const { messageId, body, errors, bodyIsCut, queue } = json.value;
  const sentAt = Date.parse(String(json.value.sentAt));
  if (typeof messageId !== 'string' || typeof body !== 'string') return undefined;
  const problems = Array.isArray(errors) ? errors.filter(isProblem) : [];
  return {
    messageId,
    body,
    problems,
    isCut: bodyIsCut === true,
    isEvent: queue === 'callback',
    ...(Number.isNaN(sentAt) ? {} : { sentAt }),
  };
};

const isProblem = (value: unknown): value is Problem =>
  isObject(value) && typeof value.path === 'string' && typeof value.reason === 'string';
