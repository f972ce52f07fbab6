import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { EXAMPLE_CONFIG, findConfig, loadConfig } from '../../src/config/load.ts';
import { contextOf } from '../../tools/deploy/cdk.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/node/bin/node');

const run = (args: readonly string[], environment: Record<string, string> = {}, cwd = temporaryFolder('empty')) => {
  const env = { PATH: process.env.PATH, HOME: cwd, ...environment };
  const { status, stdout, stderr } = spawnSync(NODE, [join(ROOT, args[0] ?? ''), ...args.slice(1)], {
    cwd,
    env,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
};

afterEach(() => {
  vi.unstubAllEnvs();
});

it("the configuration is the named one, GROUPAGE_CONFIG, or the folder's, in this order", () => {
  const folder = temporaryFolder('config');
  vi.stubEnv('GROUPAGE_CONFIG', '');
  expect(findConfig(folder)).toBeUndefined();
  writeFileSync(join(folder, 'groupage.config.json'), '{}');
  expect(findConfig(folder)).toBe(join(folder, 'groupage.config.json'));
  vi.stubEnv('GROUPAGE_CONFIG', 'other.ts');
  expect(findConfig(folder)).toBe(join(folder, 'other.ts'));
  expect(findConfig(folder, '/named.ts')).toBe('/named.ts');
});

it('every command finds the configuration by the same rule', () => {
  const folder = temporaryFolder('config');
  const file = join(folder, 'mine.json');
  writeFileSync(file, '{"operations":{}}');
  const named = { GROUPAGE_CONFIG: file };
  for (const args of [['bin/groupage.ts', 'check'], ['bin/deploy.ts', 'deploy'], ['bin/app.ts']]) {
    const { status, output } = run(args, named);
    expect([args, status, output]).toEqual([args, 1, expect.stringContaining(`${file}:\n`)]);
  }
  expect(run(['bin/groupage.ts', 'check'], { GROUPAGE_CONFIG: '' }).output).toContain(
    'The following describes the example, examples/flights',
  );
});

it('the API is checked before anything else, and passed to the app only if it is given', () => {
  expect(run(['bin/deploy.ts', 'deploy', '--api', 'rest'])).toEqual({
    status: 2,
    output: expect.stringContaining('the API is function-url, http-api, or ids of VPC endpoints'),
  });
  expect(run(['bin/deploy.ts', 'destroy', '--stage', 'dev', '--api', 'http-api']).status).toBe(2);
  expect(contextOf({ stage: 'dev' })).toEqual(['-c', 'stage=dev']);
  expect(contextOf({ stage: 'dev', api: 'http-api' })).toEqual(['-c', 'stage=dev', '-c', 'api=http-api']);
});

it('a folder is refused as configuration', async () => {
  await expect(loadConfig(temporaryFolder('config'))).rejects.toThrow('is a folder: name a file in it');
});

it('a configuration that ends the process makes the command fail', () => {
  const file = join(temporaryFolder('config'), 'groupage.config.ts');
  for (const text of [
    'process.exit(0);\nexport default {};',
    `setTimeout(() => process.exit(0), 0);\nexport { default } from ${JSON.stringify(EXAMPLE_CONFIG)};`,
  ]) {
    writeFileSync(file, text);
    const environment = { AWS_REGION: 'eu-test-1', AWS_ENDPOINT_URL: 'http://127.0.0.1:9' };
    const { status, output } = run(['bin/deploy.ts', 'deploy', '--config', file], environment);
    expect([status, output]).toEqual([
      1,
      expect.stringContaining('The process ended before the command had finished.'),
    ]);
  }
  writeFileSync(file, 'process.exit(0);\nexport default {};');
  expect(run(['bin/groupage.ts', 'check', file])).toEqual({
    status: 1,
    output: expect.stringContaining('ended the process while it was loaded'),
  });
});

it("check prints no secret of a downstream's URL", () => {
  const file = join(temporaryFolder('config'), 'groupage.config.json');
  const downstream = { kind: 'http', url: 'https://example.com/batch?key=s3cret' };
  writeFileSync(file, JSON.stringify({ operations: { ship: { target: ['depot'], downstream } } }));
  const { status, output } = run(['bin/groupage.ts', 'check', file]);
  expect([status, output]).toEqual([0, expect.stringContaining('https://example.com/batch (')]);
  expect(output).not.toContain('s3cret');
});
