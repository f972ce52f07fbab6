/** The completion script for zsh. */
import { branch, findLevel, optionsWhere, quoted } from './posix.ts';
import type { Level, Word } from './tree.ts';

/** zsh separates a word from its description by a colon. */
const described = ({ word, about }: Word): string => quoted(`${word.replaceAll(':', '\\:')}:${about}`);

const describe = (what: string, all: readonly Word[]): string =>
  `found=(${all.map(described).join(' ')}); _describe ${what} found; return`;

const choose = (all: readonly string[]): string =>
  `found=(${all.map(quoted).join(' ')}); _describe value found; return`;

export const zshScript = (levels: readonly Level[]): string => `#compdef groupage
# Completion of groupage in zsh. Add to ~/.zshrc, after compinit: source <(groupage completion zsh)
_groupage() {
  local -a found
${findLevel(levels, `for ((i = 2; i < CURRENT; i++)); do word="$words[i]"`)}  if [[ -n $value ]]; then
    case "$at $word" in
${branch(
  optionsWhere(levels, ({ values }) => values.kind === 'file'),
  '_files; return',
)}${levels.flatMap(choices).join('')}    esac
    return
  fi
  if [[ $words[CURRENT] == -* ]]; then
    case "$at" in
${levels
  .map(({ at, options }) =>
    branch(
      [at],
      describe(
        'option',
        options.flatMap(({ forms, about }) => forms.map((word) => ({ word, about }))),
      ),
    ),
  )
  .join('')}    esac
  fi
  case "$at" in
${levels.map(afterCommand).join('')}  esac
}
if [[ $funcstack[1] == _groupage ]]; then _groupage "$@"; else compdef _groupage groupage; fi
`;

const choices = ({ at, options }: Level): string[] =>
  options.flatMap(({ forms, values }) =>
    values.kind === 'choices'
      ? [
          branch(
            forms.map((form) => `${at} ${form}`),
            choose(values.choices),
          ),
        ]
      : [],
  );

const afterCommand = ({ at, commands, arguments: all }: Level): string => {
  if (commands.length > 0) return branch([at], describe('command', commands));
  const chosen = all.flatMap((values) => (values.kind === 'choices' ? values.choices : []));
  if (chosen.length > 0) return branch([at], choose(chosen));
  return all.some(({ kind }) => kind === 'file') ? branch([at], '_files; return') : '';
};
