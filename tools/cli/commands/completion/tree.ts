/** The commands, options and choices that a shell can complete, taken from the program itself. */
import type { Argument, Command, Option } from 'commander';

/** A word, and a short text about it. */
export interface Word {
  readonly word: string;
  readonly about: string;
}

/** The values that an option or an argument takes. */
export type Values =
  | { readonly kind: 'none' }
  | { readonly kind: 'any' }
  | { readonly kind: 'file' }
  | { readonly kind: 'choices'; readonly choices: readonly string[] };

export interface OptionWords {
  /** The forms of the option, such as `-h` and `--help`. */
  readonly forms: readonly string[];
  readonly about: string;
  readonly values: Values;
}

/** The words that can follow a command. */
export interface Level {
  /** The words that lead to the command, such as `fan-out open`. Empty for `groupage` alone. */
  readonly at: string;
  readonly commands: readonly Word[];
  readonly options: readonly OptionWords[];
  readonly arguments: readonly Values[];
}

/** All levels, beginning with `groupage` alone. */
export const levelsOf = (command: Command, at = ''): Level[] => [
  {
    at,
    commands: command.commands.map((each) => ({ word: each.name(), about: shortened(each.description()) })),
    options: [...command.options.filter(({ hidden }) => !hidden).map(optionWords), HELP],
    arguments: command.registeredArguments.map(valuesOf),
  },
  ...command.commands.flatMap((each) => levelsOf(each, at === '' ? each.name() : `${at} ${each.name()}`)),
];

const HELP: OptionWords = { forms: ['-h', '--help'], about: 'display help for command', values: { kind: 'none' } };

const optionWords = (option: Option): OptionWords => ({
  forms: [option.short, option.long].filter((form) => form !== undefined),
  about: shortened(option.description),
  values: option.required || option.optional ? valuesOf(option) : { kind: 'none' },
});

/** The commands name files `<file>` or `<path>`. */
const valuesOf = (of: Option | Argument): Values => {
  if (of.argChoices) return { kind: 'choices', choices: of.argChoices };
  return {
    kind: /^(?:.* )?[<[]?(?:file|path)(?:\.\.\.)?[>\]]?$/.test('flags' in of ? of.flags : of.name()) ? 'file' : 'any',
  };
};

/** A text in one line, without what is in parentheses or after the first sentence. */
const shortened = (text: string): string =>
  text
    .replaceAll(/\s*\([^)]*\)/g, '')
    .replaceAll(/\s+/g, ' ')
    .split(/[;:.] |\.$/)[0] ?? '';
