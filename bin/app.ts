/** `cdk synth`, `cdk deploy`: the entry that cdk.json names. */
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { groupageApp } from '../lib/app.ts';
import { InvalidStage } from '../lib/stage.ts';
import { findConfig, InvalidConfig, loadConfig } from '../src/config/load.ts';

const file =
  process.env.GROUPAGE_CONFIG ??
  findConfig(process.cwd()) ??
  join(import.meta.dirname, '../examples/flights/groupage.config.ts');

try {
  const app = groupageApp({ config: await loadConfig(file) });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
} catch (cause) {
  if (!(cause instanceof InvalidConfig || cause instanceof InvalidStage)) throw cause;
  console.error(cause.message);
  process.exitCode = 1;
}
