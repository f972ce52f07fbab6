/** How register messages reach their function. */
import type * as z from 'zod';
import { MESSAGES_AT_ONCE, REGISTER_LIMITS, SECOND } from '../../timings.ts';
import { duration, fault, section, whole } from './rules.ts';

/** What Lambda hands on without gathering. */
const AT_ONCE = MESSAGES_AT_ONCE.register;

const fields = section({
  maxMessages: whole(1, REGISTER_LIMITS.messages).default(AT_ONCE),
  maxWait: duration(0, REGISTER_LIMITS.wait).default(0),
});
type Register = z.output<typeof fields>;

const checkTogether = ({ maxMessages, maxWait }: Register, context: z.RefinementCtx): void => {
  if (maxWait % SECOND > 0) fault(context, ['maxWait'], 'must be whole seconds: Lambda knows no others');
  if (maxMessages > AT_ONCE && maxWait < SECOND)
    fault(
      context,
      ['maxMessages'],
      `must not be more than ${AT_ONCE} unless register.maxWait is at least "1s": Lambda gathers no more without waiting`,
    );
};

export const registerSchema = fields.superRefine(checkTogether).prefault({});
export const registerKeys: readonly string[] = Object.keys(fields.shape);
