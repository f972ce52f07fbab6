import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backendName } from '../backends/given.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { tableUnder } from '../factories/documented.ts';
import { answerOf, DIFFERENCES } from './differences.ts';

describe('the engine', () => {
  let resources: Resources;
  beforeAll(async () => {
    resources = await makeResources('as it is');
  });
  afterAll(() => resources?.stop());

  for (const difference of DIFFERENCES)
    it(difference.what, async () => expect(await difference.ask(resources)).toBe(answerOf(difference, backendName())));

  it('has its differences from AWS listed in docs/how-to/test-groupage.md', () => {
    expect(tableUnder('| | dynoxide, fauxqs | DynamoDB Local, LocalStack | ministack | AWS |')).toEqual(
      DIFFERENCES.map(({ what, answers }) => [
        what,
        ...[answers.embedded, answers['local-processes'], answers.ministack, answers.aws],
      ]),
    );
  });
});
