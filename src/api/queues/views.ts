/** Messages of a queue without a function, as the HTTP API shows them. */
import type { Config } from '../../domain/config/resolved.ts';
import { operationOf, type Target } from '../../domain/ids.ts';
import { printSender } from '../../domain/producers/sender.ts';
import { type KeptMessage, parseRejection } from '../../domain/register/rejection.ts';
import type { DeadLetter, DeadLetterQueue } from '../../ports/queues.ts';
import { isFinal, type Listed } from '../../steps/repair/browse.ts';
import { resendOf } from '../../steps/repair/resend.ts';
import { isObject, parseJson } from '../../util/json-text.ts';
import { describeInBrief } from '../../util/problems.ts';
import { cutToBytes } from '../../util/utf8.ts';
import { iso } from '../shared/iso.ts';
import type { LetterMessage, LetterMessages } from './responses.ts';

/** Most bytes of a body, of a reason and of a name in an answer. */
const SHOWN_MAX_BYTES = { body: 10_000, reason: 500, name: 256 } as const;

export const messagesView = (config: Config, queue: DeadLetterQueue, { letters, count }: Listed): LetterMessages => {
  const missing = count - letters.length;
  return {
    queue,
    messages: letters.map((each) => messageView(config, queue, each)),
    count,
    ...(missing > 0 ? { note: NOTE(missing) } : {}),
  };
};

const NOTE = (missing: number): string =>
  `about ${missing} more: beyond the limit of this list, or received by another reader, such as a redrive that skipped them. SQS shows those again after at most 30 seconds`;

const messageView = (config: Config, queue: DeadLetterQueue, deadLetter: DeadLetter): LetterMessage => {
  const { messageId, sentAt, firstSentAt, sender } = deadLetter;
  const refused = queue === 'rejected' ? parseRejection(deadLetter.body) : undefined;
  const body = refused?.body ?? deadLetter.body;
  const shown = cutToBytes(body, SHOWN_MAX_BYTES.body);
  const isCut = shown.length < body.length || refused?.isCut === true;
  const resent = isFinal(queue) ? resendOf(config, queue, deadLetter) : undefined;
  const from = refused?.sender ?? sender;
  return {
    id: messageId,
    reasons: (refused?.problems ?? []).map(({ path, reason }) => ({
      path: cutToBytes(path, SHOWN_MAX_BYTES.name),
      reason: cutToBytes(reason, SHOWN_MAX_BYTES.reason),
    })),
    ...(refused && refused.problemsInAll > refused.problems.length ? { reasonsInAll: refused.problemsInAll } : {}),
    ...(refused ? { messageId: cutToBytes(refused.messageId, SHOWN_MAX_BYTES.name) } : {}),
    ...named(body),
    ...(from === undefined ? {} : { sender: printSender(from) }),
    sentAt: iso(refused?.sentAt ?? firstSentAt),
    since: iso(sentAt),
    body: shown,
    ...(isCut ? { bodyIsCut: true, bodyBytes: refused?.bodyBytes ?? Buffer.byteLength(body) } : {}),
    ...(resent?.is === 'kept' ? { wouldStay: stayOf(resent.reason, refused) } : {}),
  };
};

/** The stored reasons are not repeated if they still hold. */
const stayOf = (reason: string, refused: KeptMessage | undefined): string => {
  const isSame = refused !== undefined && reason.endsWith(`: ${describeInBrief(refused.problems)}`);
  return isSame ? 'it would be rejected again, for the same reasons' : cutToBytes(reason, SHOWN_MAX_BYTES.reason);
};

/** What the body names, as far as it can be read. An event names its operation and task in its data. */
const named = (body: string): Pick<LetterMessage, 'operation' | 'taskId' | 'destination'> => {
  const json = parseJson(body);
  if (!json.ok || !isObject(json.value)) return {};
  const { event, to, id, operation, target } = json.value;
  const data = isObject(event) && isObject(event.data) ? event.data : undefined;
  const found = {
    operation: text(data ? data.operation : operation) ?? (text(target) && operationOf(text(target) as Target)),
    taskId: text(data ? data.id : id),
    destination: data && text(to),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined && value !== ''));
};

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? cutToBytes(value, SHOWN_MAX_BYTES.name) : undefined;
