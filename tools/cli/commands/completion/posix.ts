/** Parts of the scripts for bash and zsh, whose `case` is the same. */
import type { Level, OptionWords } from './tree.ts';

/** A text as one word of the shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A branch of `case`. Empty if it has no pattern. */
export const branch = (patterns: readonly string[], then: string): string =>
  patterns.length === 0 ? '' : `      ${patterns.map(quoted).join('|')}) ${then} ;;\n`;

/** The words after which the shell is at a further level, such as ` send` and `fan-out open`. */
const steps = (levels: readonly Level[]): string[] =>
  levels.flatMap(({ at, commands }) => commands.map(({ word }) => `${at} ${word}`));

/** The options of all levels that fulfil a condition, such as `send --file`. */
export const optionsWhere = (levels: readonly Level[], isMeant: (option: OptionWords) => boolean): string[] =>
  levels.flatMap(({ at, options }) =>
    options.filter(isMeant).flatMap(({ forms }) => forms.map((form) => `${at} ${form}`)),
  );

/**
 * Finds the level of the words before the cursor: `at`, and whether the next word is the value of an option, which is
 * then `word`.
 */
export const findLevel = (levels: readonly Level[], words: string): string => `  local at= word= value= i
  ${words}
    if [[ -n $value ]]; then value=; continue; fi
    case "$at $word" in
${branch(steps(levels), `at="\${at:+$at }$word"`)}${branch(
  optionsWhere(levels, ({ values }) => values.kind !== 'none'),
  'value=1',
)}    esac
  done
`;
