/** The table of the calls that each right includes, from the declarations of the calls. */
import type { Right } from '../../src/domain/deployed/limits.ts';
import { CALLS } from '../../tools/contract/openapi.ts';

const named = (right: Right): string =>
  CALLS.filter((call) => call.right === right)
    .map(({ id }) => `\`${id}\``)
    .join(', ');

const MEANINGS: Readonly<Record<Right, readonly [calls: string, why: string]>> = {
  read: ['all `GET`', 'no effect'],
  operate: [named('operate'), 'what people on call do'],
  work: [named('work'), 'what services do all the time'],
};

export const rights = (): string => {
  const reads = CALLS.filter(({ on }) => on.startsWith('GET '));
  if (reads.some(({ right }) => right !== 'read') || reads.length !== CALLS.filter((c) => c.right === 'read').length)
    throw new Error('the right read has other calls than GET: list them in the table');
  const rows = Object.entries(MEANINGS).map(([right, [calls, why]]) => `| \`${right}\` | ${calls} | ${why} |`);
  return ['| right | calls | why |', '|---|---|---|', ...rows].join('\n');
};
