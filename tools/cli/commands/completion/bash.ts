/** The completion script for bash, also for version 3.2 of macOS. */
import { branch, findLevel, optionsWhere, quoted } from './posix.ts';
import type { Level, OptionWords } from './tree.ts';

const words = (all: readonly string[]): string =>
  `COMPREPLY=($(compgen -W ${quoted(all.join(' '))} -- "$current")); return`;

const FILES = '_groupage_files; return';

export const bashScript = (
  levels: readonly Level[],
): string => `# Completion of groupage in bash. Add to ~/.bashrc: source <(groupage completion bash)
_groupage_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$current"))
}
_groupage() {
  local current="\${COMP_WORDS[COMP_CWORD]}" IFS=$' \\t\\n'
${findLevel(levels, `for ((i = 1; i < COMP_CWORD; i++)); do word="\${COMP_WORDS[i]}"`)}  COMPREPLY=()
  if [[ -n $value ]]; then
    case "$at $word" in
${branch(
  optionsWhere(levels, ({ values }) => values.kind === 'file'),
  FILES,
)}${levels.flatMap(choices).join('')}    esac
    return
  fi
  if [[ $current == -* ]]; then
    case "$at" in
${levels.map(({ at, options }) => branch([at], words(options.flatMap(({ forms }) => forms)))).join('')}    esac
  fi
  case "$at" in
${levels.map(afterCommand).join('')}  esac
}
complete -F _groupage groupage
`;

const choices = ({ at, options }: Level): string[] =>
  options.flatMap(({ forms, values }: OptionWords) =>
    values.kind === 'choices'
      ? [
          branch(
            forms.map((form) => `${at} ${form}`),
            words(values.choices),
          ),
        ]
      : [],
  );

/** The commands of a level, or the choices of its arguments. */
const afterCommand = ({ at, commands, arguments: all }: Level): string => {
  const names = [
    ...commands.map(({ word }) => word),
    ...all.flatMap((values) => (values.kind === 'choices' ? values.choices : [])),
  ];
  if (names.length > 0) return branch([at], words(names));
  return all.some(({ kind }) => kind === 'file') ? branch([at], FILES) : '';
};
