/** The completion script for fish. */
import type { Level, OptionWords, Values } from './tree.ts';

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const list = (all: readonly string[]): string => quoted(all.join(' '));

export const fishScript = (
  levels: readonly Level[],
): string => `# Completion of groupage in fish. Save it: groupage completion fish > ~/.config/fish/completions/groupage.fish
function __groupage_at
    set -l at ''
    set -l value ''
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test -n "$value"
            set value ''
            continue
        end
        switch "$at $word"
            case ${steps(levels).map(quoted).join(' ')}
                set at (string trim -- "$at $word")
            case ${withValue(levels).map(quoted).join(' ')}
                set value 1
        end
    end
    test "$at" = "$argv[1]"
end
complete -c groupage -f
${levels.flatMap(linesOf).join('\n')}
`;

const steps = (levels: readonly Level[]): string[] =>
  levels.flatMap(({ at, commands }) => commands.map(({ word }) => `${at} ${word}`));

const withValue = (levels: readonly Level[]): string[] =>
  levels.flatMap(({ at, options }) =>
    options.filter(({ values }) => values.kind !== 'none').flatMap(({ forms }) => forms.map((form) => `${at} ${form}`)),
  );

const linesOf = ({ at, commands, options, arguments: all }: Level): string[] => {
  const line = `complete -c groupage -n ${quoted(`__groupage_at ${quoted(at)}`)}`;
  return [
    ...commands.map(({ word, about }) => `${line} -a ${quoted(word)} -d ${quoted(about)}`),
    ...all.flatMap((values) => argumentOf(line, values)),
    ...options.map((option) => `${line} ${optionOf(option)}`),
  ];
};

const argumentOf = (line: string, values: Values): string[] => {
  switch (values.kind) {
    case 'choices':
      return [`${line} -a ${list(values.choices)}`];
    case 'file':
      return [`${line} -F`];
    case 'any':
    case 'none':
      return [];
  }
};

const optionOf = ({ forms, about, values }: OptionWords): string =>
  [
    ...forms.map((form) => (form.startsWith('--') ? `-l ${form.slice(2)}` : `-s ${form.slice(1)}`)),
    ...valueWords(values),
    `-d ${quoted(about)}`,
  ].join(' ');

const valueWords = (values: Values): string[] => {
  switch (values.kind) {
    case 'choices':
      return [`-x -a ${list(values.choices)}`];
    case 'file':
      return ['-r -F'];
    case 'any':
      return ['-x'];
    case 'none':
      return [];
  }
};
