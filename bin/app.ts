/** The entry point of `cdk synth` and `cdk deploy`, named in cdk.json. */
import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { groupageApp } from '../lib/app.ts';
import { InvalidOption } from '../lib/invalid-option.ts';
import { EXAMPLE_CONFIG, findConfig, InvalidConfig, loadConfig } from '../src/config/load.ts';

try {
  const app = groupageApp({ config: await loadConfig(findConfig(process.cwd()) ?? EXAMPLE_CONFIG) });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
} catch (cause) {
  if (!(cause instanceof InvalidConfig || cause instanceof InvalidOption)) throw cause;
  console.error(cause.message);
  process.exitCode = 1;
}
