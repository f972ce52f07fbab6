/** What is said of a configuration, for tests of what is wrong with it. */

import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { describeProblem } from '../../src/util/problems.ts';

export const URL_HERE = 'http://127.0.0.1:9100/batch';
export const HTTP = { kind: 'http', url: URL_HERE };

/** Of a configuration: each problem with its path. */
export const problemsIn = (input: unknown): string[] => {
  const parsed = parseConfig(input);
  return parsed.ok ? [] : parsed.problems.map(describeProblem);
};

/** Of an operation with what it needs, and these values; paths begin in it. */
export const problemsOf = (operation: object): string[] =>
  problemsIn({ operations: { ship: { target: [], downstream: HTTP, ...operation } } }).map((each) =>
    each.replace(/^operations\.ship[. ]/, ''),
  );

export const ofDownstream = (downstream: unknown): string[] =>
  problemsOf({ downstream }).map((each) => each.replace(/^downstream[. ]/, ''));

export const ofDestination = (destination: unknown): string[] =>
  problemsIn({ operations: { ship: { target: [], downstream: HTTP } }, destinations: { ops: destination } }).map(
    (each) => each.replace(/^destinations\.ops[. ]/, ''),
  );

/** As a JSON file has it: with members that JavaScript would take for something else. */
export const fromJson = (text: string): unknown => JSON.parse(text);
