/**
 * The message on the register queue that turns jobs of a deferred list into tasks. One message creates some of the
 * tasks, and the next message continues.
 */
import * as z from 'zod/mini';
import { type Parsed, problemsIn } from '../../util/problems.ts';
import { isToken, type Token } from '../ids.ts';
import { type ListId, listId } from '../lists/ids.ts';
import { numberOf, textOf } from './register-fields.ts';

export interface TriggerMessage {
  readonly list: ListId;
  readonly token: Token;
  /** How many jobs the token takes, if it has taken no jobs yet. */
  readonly count: number;
  /** How many of these jobs are tasks already. */
  readonly from: number;
}

const whole = () =>
  numberOf('must be a whole number, 0 or more', { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const fields = z.strictObject({
  list: textOf('must be the id of a list', (text) => listId(text) !== undefined),
  trigger: textOf('must be the token of a trigger', isToken),
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
