/** The arguments and options that `lists worker` and `fleet worker` share. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { WrongUsage } from '../../failure.ts';
import type { ProcessOptions } from './process.ts';

/** Parses a whole number in a range. */
export const wholeUpTo =
  (most: number) =>
  (text: string): number => {
    if (!/^[1-9]\d{0,8}$/.test(text) || Number(text) > most)
      throw new InvalidArgumentError(`Give a whole number from 1 to ${most.toLocaleString('en')}.`);
    return Number(text);
  };

/** Parses a number of seconds in a range. @returns milliseconds */
export const secondsBetween =
  (least: number, most: number) =>
  (text: string): number => {
    if (!/^\d{1,6}(\.\d{1,3})?$/.test(text) || Number(text) < least || Number(text) > most)
      throw new InvalidArgumentError(`Give a number of seconds from ${least} to ${most.toLocaleString('en')}.`);
    return Number(text) * 1_000;
  };

/** Adds the program that works, and its time limit. */
export const withProgram = (command: Command): Command =>
  command
    .argument('[command...]', 'program that works, and its arguments, after --')
    .addOption(
      new Option(
        '--timeout <seconds>',
        'kill a process that sends no message for so long while it works, or has not ended so long after a stop',
      )
        .argParser(secondsBetween(1, 86_400))
        .default(60_000, '60'),
    );

/** @throws WrongUsage without a program */
export const programOf = (given: readonly string[], { timeout }: { readonly timeout: number }): ProcessOptions => {
  const [program, ...args] = given;
  if (!program) throw new WrongUsage('name the program that works, after --, for example: -- python3 worker.py');
  return { command: [program, ...args], timeout };
};
