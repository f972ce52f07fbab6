/** The options of the commands that `npm run` starts. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** @throws TypeError for an unknown option, a missing value, or an option that is given twice */
export const parseOptions = <const T extends ParseArgsOptionsConfig>(args: readonly string[], options: T) => {
  const { values, tokens } = parseArgs({ args: [...args], options, allowNegative: true, tokens: true });
  const given = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    // Node.js would silently use the last value.
    if (given.has(token.name)) throw new TypeError(`--${token.name} is given twice`);
    given.add(token.name);
  }
  return values;
};
