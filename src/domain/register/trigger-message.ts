/** The message that makes tasks of jobs, on the register queue: some at a time, and then it goes on with the next ones. */
import * as z from 'zod/mini';
import { type Parsed, problemsIn } from '../../util/problems.ts';
import { isToken, type Token } from '../ids.ts';
import { type ListId, listId } from '../lists/ids.ts';

export interface TriggerMessage {
  readonly list: ListId;
  readonly token: Token;
  /** How many jobs the token takes, if it has taken none yet. */
  readonly count: number;
  /** How many of them have become tasks. */
  readonly from: number;
}

const whole = () => {
  const error = 'must be a whole number, 0 or more';
  return z.number({ error }).check(z.refine((value) => Number.isSafeInteger(value) && value >= 0, { error }));
};
const named = (error: string, fits: (text: string) => boolean) => z.string({ error }).check(z.refine(fits, { error }));

const fields = z.strictObject({
  list: named('must be the id of a list', (text) => listId(text) !== undefined),
  trigger: named('must be the token of a trigger', isToken),
  count: whole(),
  from: whole(),
});

export const printTrigger = ({ list, token, count, from }: TriggerMessage): string =>
  JSON.stringify({ list, trigger: token, count, from });

export const parseTrigger = (json: unknown): Parsed<TriggerMessage> => {
  const parsed = fields.safeParse(json);
  if (!parsed.success) return { ok: false, problems: problemsIn(parsed.error, 'a trigger') };
  const { list, trigger, count, from } = parsed.data;
  return { ok: true, value: { list: list as ListId, token: trigger as Token, count, from } };
};
