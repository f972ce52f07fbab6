import { beforeAll, describe, expect, it } from 'vitest';
import { synthesise } from '../../tools/local/assembly.ts';
import { CloudAssembly } from '../../tools/local/template.ts';
import { aConfig } from '../factories/factories.ts';
import { type Grant, missingGrants, printed, unusedGrants } from './compare.ts';
import { grantsOf, usedByLambda } from './granted.ts';

describe("the template's grants", () => {
  let assembly: CloudAssembly;
  beforeAll(() => {
    assembly = new CloudAssembly(synthesise(aConfig()), { sqs: 'http://127.0.0.1:4501' });
  });

  it('are read for each function, under the names of the local stack', () => {
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
    // No function scans a whole table.
    expect(
      grants
        .filter(({ action }) => action === 'dynamodb:Scan')
        .map(printed)
        .toSorted(),
    ).toEqual([
      'Flow-ApiHandler-Function dynamodb:Scan Tables-BatchLock/index/Targets',
      'Flow-ApiHandler-Function dynamodb:Scan Tables-Task/index/FailedByTarget',
      'Flow-RegisterHandler-Function dynamodb:Scan Tables-BatchLock/index/Targets',
    ]);
  });

  it("include Lambda's own: polling the queue, and writing logs", () => {
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

describe('a comparison of uses and grants', () => {
  const grant = (action: string, resource: string, functionName = 'F'): Grant => ({ functionName, action, resource });

  it('finds nothing missing or unused if they are equal', () => {
    const same = [grant('dynamodb:Query', 'T'), grant('dynamodb:Query', 'T/index/I')];
    expect(missingGrants(same, same)).toEqual([]);
    expect(unusedGrants(same, same)).toEqual([]);
  });

  it.each([
    ['another action', grant('dynamodb:GetItem', 'T')],
    ['another table', grant('dynamodb:Query', 'T2')],
    ['an index', grant('dynamodb:Query', 'T/index/I')],
    ['another function', grant('dynamodb:Query', 'T', 'G')],
  ])('finds %s missing, and the grant unused', (_, use) => {
    const granted = [grant('dynamodb:Query', 'T')];
    expect(missingGrants(granted, [use])).toEqual([use]);
    expect(unusedGrants(granted, [use])).toEqual(granted);
  });

  it('lets a wildcard cover what matches it', () => {
    const granted = [grant('dynamodb:*', 'T/index/*')];
    const [index, table] = [grant('dynamodb:Query', 'T/index/I'), grant('dynamodb:Query', 'T')];
    expect(missingGrants(granted, [index, table])).toEqual([table]);
    expect(unusedGrants(granted, [index])).toEqual([]);
  });
});
