import { beforeAll, describe, expect, it } from 'vitest';
import { deployedStack } from '../backends/backend.ts';
import { type DeployedBackend, openDeployed } from '../backends/deployed.ts';
import { tableUnder } from '../factories/documented.ts';
import { CLOUD_DIFFERENCES } from './differences.ts';

describe("this cloud's differences", () => {
  const given = deployedStack();
  let backend: DeployedBackend;
  beforeAll(async () => {
    backend = await openDeployed(given);
  });

  for (const { what, ask, answers } of CLOUD_DIFFERENCES)
    it(what, async () => expect(await ask(backend)).toBe(answers[given.cloud.name]));

  it('are documented', () => {
    expect(tableUnder('| | ministack | AWS |')).toEqual(
      CLOUD_DIFFERENCES.map(({ what, answers }) => [what, answers.ministack, answers.aws]),
    );
  });
});
