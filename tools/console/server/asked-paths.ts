/** Which calls a page may have made for it, again and again. */
import type { Problem } from '../../../src/util/problems.ts';
import { PATH_LENGTH_MAX } from './shapes.ts';

/** As many as a page has parts that are live. */
export const PATHS_MAX = 12;
const NOWHERE = 'http://api.invalid';

/** @returns what is wrong with them; nothing where all is well. */
export const problemsWith = (paths: readonly string[]): readonly Problem[] => [
  ...(paths.length > PATHS_MAX
    ? [{ path: 'get', reason: `is there ${paths.length} times; a page has ${PATHS_MAX} calls at the most` }]
    : []),
  ...paths.slice(0, PATHS_MAX).flatMap((path) => {
    const reason = problemWith(path);
    return reason === undefined ? [] : [{ path: 'get', reason: `${JSON.stringify(path.slice(0, 200))} ${reason}` }];
  }),
];

const problemWith = (path: string): string | undefined => {
  if (path.length > PATH_LENGTH_MAX) return `has more than ${PATH_LENGTH_MAX} characters`;
  if (!path.startsWith('/v1/')) return 'is no path of the API, which begin with /v1/';
  // As it would be asked for: dots and backslashes may lead elsewhere.
  const { origin, pathname, hash } = new URL(path, NOWHERE);
  return origin === NOWHERE && pathname.startsWith('/v1/') && hash === '' ? undefined : 'leads out of the API';
};
