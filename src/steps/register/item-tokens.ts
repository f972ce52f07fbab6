/** Checks the tokens of fan-out items that messages name. */
import { type FanOutId, type NamedItem, parseItemId } from '../../domain/fan-out-ids.ts';
import { isTokenOf } from '../../domain/fan-outs/item-token.ts';
import type { Refused, Valid } from '../../domain/register/register-message.ts';
import type { RegisterDeps } from '../deps.ts';
import type { KeysOf } from '../fan-outs/item-keys.ts';

interface Checked {
  readonly valid: readonly Valid[];
  readonly refused: readonly Refused[];
}

type Verdict = 'right' | 'wrong' | 'no-key' | 'no-fan-out';

/**
 * Refuses messages with a wrong token. If the fan-out does not exist, nothing can be acknowledged: the task is registered
 * without its item, so that it cannot acknowledge an item of a fan-out that is opened later with the same id.
 */
export const checkItemTokens = async (
  deps: Pick<RegisterDeps, 'powers' | 'report'>,
  all: readonly Valid[],
): Promise<Checked> => {
  const { powers, report } = deps;
  const named = new Map(all.flatMap((each) => (each.itemToken === undefined ? [] : [[each, itemOf(each)] as const])));
  if (named.size === 0) return { valid: all, refused: [] };
  const verdicts = judged(named, powers.itemKeys.remembered);
  // No key is remembered, or the key of an earlier fan-out with the same id.
  const doubtful = new Map([...named].filter(([each]) => verdicts.get(each) !== 'right'));
  for (const [each, verdict] of judged(doubtful, await powers.itemKeys.read(fanOutsOf(doubtful))))
    verdicts.set(each, verdict);
  const unknown = all.filter((each) => verdicts.get(each) === 'no-fan-out');
  const [first] = unknown;
  if (first) report({ event: 'unknown-items', items: unknown.length, first: first.task.fanOutItem ?? '' });
  return {
    valid: all.flatMap((each) => {
      const verdict = verdicts.get(each);
      if (verdict === undefined || verdict === 'right') return each;
      return verdict === 'no-fan-out' ? withoutItem(each) : [];
    }),
    refused: all.flatMap((each): Refused[] => {
      const reason = REASONS[verdicts.get(each) ?? 'right'];
      return reason === undefined ? [] : [{ message: each.message, problems: [{ path: 'fanOutItem', reason }] }];
    }),
  };
};

const REASONS: Readonly<Record<Verdict, string | undefined>> = {
  right: undefined,
  'no-fan-out': undefined,
  wrong:
    'has a wrong token: pass the id on as the coordinator got it from the client for fan-outs, or from the itemKey of POST /v1/fan-outs/ID/items',
  'no-key': 'has a token, but an earlier release opened its fan-out, whose items have none: leave the token out',
};

const itemOf = ({ task, itemToken: token }: Valid): NamedItem =>
  ({ ...parseItemId(task.fanOutItem), token }) as NamedItem;

const fanOutsOf = (named: ReadonlyMap<Valid, NamedItem>): FanOutId[] => [...named.values()].map(({ fanOut }) => fanOut);

const judged = (named: ReadonlyMap<Valid, NamedItem>, keys: KeysOf): Map<Valid, Verdict> =>
  new Map([...named].map(([each, item]) => [each, verdictOn(item, keys)]));

const verdictOn = (item: NamedItem, keys: KeysOf): Verdict => {
  const known = keys.get(item.fanOut);
  if (!known) return 'no-fan-out';
  if (known.itemKey === undefined) return 'no-key';
  return isTokenOf(known.itemKey, item, item.token ?? '') ? 'right' : 'wrong';
};

const withoutItem = ({ task: { fanOutItem: _, ...task }, itemToken: __, ...each }: Valid): Valid => ({ ...each, task });
