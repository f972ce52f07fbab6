import { beforeAll, describe, expect, it } from 'vitest';
import { synthesise } from '../../tools/local/assembly.ts';
import { CloudAssembly } from '../../tools/local/template.ts';
import { aConfig } from '../factories/factories.ts';
import { type Grant, missingGrants, printed, unusedGrants } from './compare.ts';
import { grantsOf, usedByLambda } from './granted.ts';

describe('what the template grants', () => {
  let assembly: CloudAssembly;
  beforeAll(() => {
    assembly = new CloudAssembly(synthesise(aConfig()), { sqs: 'http://127.0.0.1:4501' });
  });

  it('is read function by function, under the names of the local stack', () => {
    const grants = grantsOf(assembly);
    expect(grants.filter(({ functionName }) => functionName === 'Flow-ElectHandler-Function').map(printed)).toEqual(
      [
        'logs:CreateLogStream Flow-ElectHandler-Logs',
        'logs:PutLogEvents Flow-ElectHandler-Logs',
        'sqs:DeleteMessage Flow-Elect-Queue',
        'sqs:GetQueueAttributes Flow-Elect-Queue',
        'sqs:ReceiveMessage Flow-Elect-Queue',
        'dynamodb:DeleteItem Tables-BatchLock',
        'dynamodb:GetItem Tables-BatchLock',
        'dynamodb:Query Tables-BatchLock',
        'dynamodb:UpdateItem Tables-BatchLock',
        'sqs:SendMessage Flow-Batch-Queue',
        'sqs:SendMessage Flow-Elect-Queue',
        'sqs:SendMessage Flow-Group-Queue',
      ].map((grant) => `Flow-ElectHandler-Function ${grant}`),
    );
    for (const action of ['Query', 'Scan'])
      expect(grants.map(printed)).toContain(
        `Flow-ApiHandler-Function dynamodb:${action} Tables-Task/index/FailedByTarget`,
      );
    // Nothing reads a whole table.
    expect(grants.filter(({ action }) => action === 'dynamodb:Scan')).toHaveLength(1);
  });

  it("tells what Lambda itself uses: polling a function's own queue, writing its own logs", () => {
    const isLambdas = usedByLambda(assembly);
    const grants = grantsOf(assembly);
    // Three for each of four queues, two for each of six log groups.
    expect(grants.filter(isLambdas)).toHaveLength(4 * 3 + 6 * 2);
    const sweep = { functionName: 'Flow-SweepHandler-Function', resource: 'Flow-Elect-DeadLetters' };
    expect(grants).toContainEqual({ ...sweep, action: 'sqs:ReceiveMessage' });
    expect(isLambdas({ ...sweep, action: 'sqs:ReceiveMessage' })).toBe(false);
    expect(isLambdas({ ...sweep, action: 'sqs:ReceiveMessage', resource: 'Flow-Elect-Queue' })).toBe(false);
  });
});

describe('uses held against grants', () => {
  const grant = (action: string, resource: string, functionName = 'F'): Grant => ({ functionName, action, resource });

  it('nothing is missing or unused where they are the same', () => {
    const same = [grant('dynamodb:Query', 'T'), grant('dynamodb:Query', 'T/index/I')];
    expect(missingGrants(same, same)).toEqual([]);
    expect(unusedGrants(same, same)).toEqual([]);
  });

  it.each([
    ['another action', grant('dynamodb:GetItem', 'T')],
    ['another table', grant('dynamodb:Query', 'T2')],
    ['an index, which the table does not cover', grant('dynamodb:Query', 'T/index/I')],
    ['another function', grant('dynamodb:Query', 'T', 'G')],
  ])('%s is missing, and what is granted is unused', (_, use) => {
    const granted = [grant('dynamodb:Query', 'T')];
    expect(missingGrants(granted, [use])).toEqual([use]);
    expect(unusedGrants(granted, [use])).toEqual(granted);
  });

  it('a wildcard covers what it says', () => {
    const granted = [grant('dynamodb:*', 'T/index/*')];
    const [index, table] = [grant('dynamodb:Query', 'T/index/I'), grant('dynamodb:Query', 'T')];
    expect(missingGrants(granted, [index, table])).toEqual([table]);
    expect(unusedGrants(granted, [index])).toEqual([]);
  });
});
