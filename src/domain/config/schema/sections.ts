/**
 * The sections of a configuration that belong to no operation: register messages, fan-outs, deferred lists and alarms.
 */

import type * as z from 'zod';
import { MESSAGES_AT_ONCE, MINUTE, REGISTER_LIMITS, SECOND } from '../../timings.ts';
import { ALARM_TOPIC } from './names.ts';
import { DAY, duration, fault, formed, HOUR, mustUnseen, section, text, toldOtherwise, whole } from './rules.ts';

/** Lambda passes at most this many messages to one invocation without a batching window. */
const AT_ONCE = MESSAGES_AT_ONCE.register;

const registerFields = section({
  maxMessages: whole(1, REGISTER_LIMITS.messages).default(AT_ONCE),
  maxWait: duration(0, REGISTER_LIMITS.wait).default(0),
});
type Register = z.output<typeof registerFields>;

const checkTogether = ({ maxMessages, maxWait }: Register, context: z.RefinementCtx): void => {
  if (maxWait % SECOND > 0) fault(context, ['maxWait'], 'must be whole seconds: Lambda accepts nothing finer');
  if (maxMessages > AT_ONCE && maxWait < SECOND)
    fault(
      context,
      ['maxMessages'],
      `must not be more than ${AT_ONCE} unless register.maxWait is at least "1s": Lambda collects more only with a batching window`,
    );
};

export const registerSchema = registerFields.superRefine(checkTogether).prefault({});
export const registerKeys: readonly string[] = Object.keys(registerFields.shape);

const fanOutFields = section({
  idleOpen: duration(MINUTE, 90 * DAY).default(2 * HOUR),
  idleSealed: duration(MINUTE, 90 * DAY).default(7 * DAY),
  keep: duration(MINUTE, 90 * DAY).default(7 * DAY),
  callback: toldOtherwise(),
});
export const fanOutsSchema = fanOutFields.prefault({});
export const fanOutKeys: readonly string[] = Object.keys(fanOutFields.shape);

const listFields = section({
  // At least a day, because claims of a cancelled list may last for another 12 hours.
  keep: duration(DAY, 90 * DAY).default(7 * DAY),
  callback: toldOtherwise(),
  maxDeliveries: whole(1, 100).default(5),
});
export const listsSchema = listFields.prefault({});
export const listKeys: readonly string[] = Object.keys(listFields.shape);

const alarmFields = section({
  topic: text(
    ALARM_TOPIC,
    'the ARN of a standard SNS topic, such as "arn:aws:sns:eu-central-1:111122223333:on-call" (in the region of the deployment), or null for none',
  )
    .nullable()
    .default(null),
  // Alarms append the anchor of a section, so the address must contain neither # nor a query.
  runbook: formed(
    /^[^\s#?]{1,500}$/,
    mustUnseen('the address or path of docs/how-to/operate.md, without # and ?'),
  ).default('docs/how-to/operate.md'),
  failedBatches: whole(1, 1_000_000).default(1),
});
/** Null: no alarms and no dashboard are deployed. */
export const alarmsSchema = alarmFields.nullable().prefault({});
export const alarmKeys: readonly string[] = Object.keys(alarmFields.shape);
