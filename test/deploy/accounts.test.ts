import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { run } from '../../tools/deploy/program.ts';
import { startAwsService } from '../factories/aws-service.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const IDENTITY =
  '<GetCallerIdentityResponse><GetCallerIdentityResult><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>';

it('a state machine of another account stops a deployment before anything is created', async () => {
  const service = await startAwsService(() => ({ headers: { 'content-type': 'text/xml' }, body: IDENTITY }));
  const file = join(temporaryFolder('config'), 'groupage.config.json');
  const stateMachine = 'arn:aws:states:eu-west-1:999999999999:stateMachine:pack';
  const pack = { target: ['depot'], downstream: { kind: 'step-functions', stateMachine } };
  writeFileSync(file, JSON.stringify({ operations: { pack } }));
  for (const [name, value] of Object.entries({
    AWS_ENDPOINT_URL: service.options.endpoint,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
  }))
    vi.stubEnv(name, value);
  const said = vi.spyOn(console, 'error').mockReturnValue();
  try {
    expect(await run(['deploy', '--config', file])).toBe(1);
  } finally {
    await service.stop();
  }
  expect(said.mock.calls.flat().join('\n')).toMatch(
    /operations\.pack\.downstream\.stateMachine is in account 999999999999, .* not those of 111122223333/,
  );
  expect(service.requests.map(({ body }) => new URLSearchParams(body).get('Action'))).toEqual(['GetCallerIdentity']);
});
