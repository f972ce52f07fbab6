import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { groupageApp } from '../../lib/app.ts';
import { stackNames } from '../../lib/stage.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { aConfig } from '../factories/factories.ts';
import { context } from './templates.ts';

const app = (outdir?: string) =>
  groupageApp({
    config: aConfig(),
    stage: 'dev',
    context,
    builtinCloudFormationValidation: false,
    ...(outdir ? { outdir } : {}),
  });

describe('the app', () => {
  it("passes cdk-nag's AwsSolutions pack", () => {
    const checked = app();
    Validations.of(checked).addPlugins(new AwsSolutionsChecks(checked));
    expect(() => checked.synth()).not.toThrow();
  });

  it('gives the same assets for the same sources', () => {
    const assets = (): string[] => {
      const { directory } = app(temporaryFolder('assets')).synth();
      const file = join(directory, `${stackNames('dev').flow}.assets.json`);
      return Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { files: object }).files);
    };
    expect(assets()).toEqual(assets());
  });

  it('has source maps that name only files of this repository', () => {
    const { directory } = app(temporaryFolder('assets')).synth();
    const maps = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.map'));
    expect(maps.filter((map) => map.endsWith('/index.mjs.map'))).toHaveLength(6);
    const sources = maps.flatMap((map) => {
      const [, ...folders] = dirname(map).split('/');
      const read = JSON.parse(readFileSync(join(directory, map), 'utf8')) as { sources: string[] };
      return read.sources.map((source) => join('bundles/name', ...folders, source));
    });
    expect(sources.length).toBeGreaterThan(600);
    expect(sources.filter((source) => source.startsWith('..'))).toEqual([]);
  });

  it('stops if the configuration is invalid, and prints the path and the fix', async () => {
    const file = join(temporaryFolder('config'), 'groupage.config.json');
    writeFileSync(
      file,
      '{"operations":{"ship":{"target":["depot"],"batch":{"maxSize":0},"downstream":{"kind":"http","url":"http://x"}}}}',
    );
    const node = join(import.meta.dirname, '../../node_modules/node/bin/node');
    const run = promisify(execFile)(node, ['bin/app.ts'], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, GROUPAGE_CONFIG: file },
    });
    await expect(run).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('operations.ship.batch.maxSize must be a whole number from 1 to 1000, not 0'),
    });
  });
});
