/** Finds the lines of the problems of a configuration file. */
import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import type { Problem } from '../util/problems.ts';
import { offsetOfJsonError } from './json-error.ts';
import { keysOf } from './literal.ts';
import { type Position, positionAt } from './position.ts';

/** A problem, and where it is in the file. Without `at`, its place could not be found. */
export interface PlacedProblem extends Problem {
  readonly at?: Position;
}

/** Adds the places of keys. @param text of the file. */
export const placed = (problems: readonly Problem[], text: string, kind: 'json' | 'module'): PlacedProblem[] => {
  const keys = keysOf(text, kind);
  return problems.map((problem) => {
    const offset = keys.find(problem.path);
    return offset === undefined ? problem : { ...problem, at: positionAt(text, offset) };
  });
};

/** Where a text stops being JSON. */
export const placeOfJsonError = (text: string): Position | undefined => {
  const offset = offsetOfJsonError(text);
  return offset === undefined ? undefined : positionAt(text, offset);
};

/** Where an error occurred in a module that could not be loaded. Undefined if it occurred elsewhere, or is unknown. */
export const placeOfError = (path: string, cause: unknown): Position | undefined => {
  if (!(cause instanceof Error)) return undefined;
  const frame = placeInFrames(path, cause.stack ?? '');
  if (frame || !(cause instanceof SyntaxError)) return frame;
  return placeInQuote(path, cause.stack ?? '') ?? placeInQuote(path, checked(path));
};

/** Names another file in which a syntax error is, such as one that the configuration imports. Empty if there is none. */
export const otherFileOf = (path: string, cause: unknown): string => {
  const quoted = cause instanceof SyntaxError ? quotedName(cause.stack ?? '') : undefined;
  return quoted && !isFile(path, quoted.file) ? ` (in ${quoted.file}, line ${quoted.line})` : '';
};

/** The first line of the file among the frames of a stack trace. */
const placeInFrames = (path: string, stack: string): Position | undefined =>
  stack.split('\n').flatMap((line) => {
    const frame = /^ {4}at (?:.*\()?(?<file>[^()]+):(?<line>\d+):(?<column>\d+)\)?$/.exec(line)?.groups;
    return frame && isFile(path, frame.file) ? [{ line: Number(frame.line), column: Number(frame.column) }] : [];
  })[0];

/** Node.js quotes the line of a syntax error: the name of the file with the line, some lines, and a line with carets. */
const placeInQuote = (path: string, text: string): Position | undefined => {
  const name = quotedName(text);
  const carets = text.split('\n').find((line) => /^\s*\^+\s*$/.test(line));
  if (!name || carets === undefined || !isFile(path, name.file)) return undefined;
  return { line: Number(name.line), column: carets.indexOf('^') + 1 };
};

/** The file and the line that a text begins with. */
const quotedName = (text: string) => /^(?<file>.+):(?<line>\d+)\n/.exec(text)?.groups;

const isFile = (path: string, name = ''): boolean => name === path || name === pathToFileURL(path).href;

/** What Node.js prints about the syntax of an ES module. An `import` does not report the line. */
const checked = (path: string): string => {
  try {
    execFileSync(process.execPath, ['--check', path], { stdio: ['ignore', 'ignore', 'pipe'], timeout: 10_000 });
    return '';
  } catch (cause) {
    return String((cause as { readonly stderr?: unknown }).stderr ?? '');
  }
};
