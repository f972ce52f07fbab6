/** Compares what the functions used in this test run with what the template grants: neither more nor less. */
import { describe, expect, it } from 'vitest';
import { synthesise } from '../../tools/local/assembly.ts';
import { CloudAssembly } from '../../tools/local/template.ts';
import { NOTHING_MAY_BE_MISSING } from '../backends/missing.ts';
import { suiteConfig } from '../end-to-end/operations.ts';
import { missingGrants, printed, unusedGrants } from './compare.ts';
import { grantsOf, usedByLambda } from './granted.ts';
import { usesIn } from './record.ts';

/** Grants that no test uses, each with its use. Prefer a test that uses the grant. */
const EXPLAINED: Readonly<Record<string, string>> = {};

/** The rights that the suite's operations need, wherever their downstream is. */
const ALL = suiteConfig('http://127.0.0.1/batch');

const folder = process.env.GROUPAGE_PERMISSIONS;
const uses = folder ? usesIn(folder) : [];

describe('the rights of the functions', () => {
  if (uses.length === 0 && !NOTHING_MAY_BE_MISSING)
    return it.skip('cannot be checked without a record of uses', () => {});

  const assembly = new CloudAssembly(synthesise(ALL), { sqs: '' });
  const grants = grantsOf(assembly);

  it('are checked with a record of every function', () => {
    const functions = assembly.all('AWS::Lambda::Function').map(({ name }) => name);
    expect([...new Set(uses.map(({ functionName }) => functionName))].toSorted()).toEqual(functions.toSorted());
  });

  it('cover every use', () => expect(missingGrants(grants, uses).map(printed).join('\n')).toBe(''));

  it("cover nothing else but Lambda's own uses and explained ones", () => {
    const isLambdas = usedByLambda(assembly);
    const unused = unusedGrants(grants, uses).filter((grant) => !isLambdas(grant));
    // As one text, so that a report names them.
    expect(unused.map(printed).toSorted().join('\n')).toBe(Object.keys(EXPLAINED).toSorted().join('\n'));
  });
  return undefined;
});
