/** The problems of a configuration, for the tests of this folder. */

import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { describeProblem } from '../../src/util/problems.ts';

export const URL_HERE = 'http://127.0.0.1:9100/batch';
export const HTTP = { kind: 'http', url: URL_HERE };

/** The problems of a configuration, each with its path. */
export const problemsIn = (input: unknown): string[] => {
  const parsed = parseConfig(input);
  return parsed.ok ? [] : parsed.problems.map(describeProblem);
};

/** The problems of an operation with these values and the required ones. Paths begin in the operation. */
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

/** As a JSON file has it: with members that JavaScript literals cannot contain. */
export const fromJson = (text: string): unknown => JSON.parse(text);
