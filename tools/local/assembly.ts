/** Synthesises the CDK app in process: the template that would be deployed, for this machine to run. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { groupageApp } from '../../lib/app.ts';
import type { HandlerCode } from '../../lib/handler-code.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { CONFIG_ASSET, OPENAPI_ASSET } from '../../src/domain/deployed/environment.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The sources themselves instead of bundles: nothing to build, and stack traces that point into them. */
const sourceCode: HandlerCode = (name, config) => {
  const folder = join(temporaryFolder('function'), name);
  mkdirSync(folder);
  const source = pathToFileURL(join(ROOT, 'lambdas', `${name}.ts`)).href;
  writeFileSync(join(folder, 'index.mjs'), `export * from ${JSON.stringify(source)};\n`);
  writeFileSync(join(folder, CONFIG_ASSET), JSON.stringify(config));
  if (name === 'api') copyFileSync(join(ROOT, 'contract', OPENAPI_ASSET), join(folder, OPENAPI_ASSET));
  return Code.fromAsset(folder);
};

/** @param code whether functions are the sources or the bundles that a deployment uploads. @returns the output folder. */
export const synthesise = (config: Config, code: 'sources' | 'bundles' = 'sources'): string => {
  const { context } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')) as { context: Record<string, unknown> };
  const app = groupageApp({
    config,
    stage: 'local',
    // Names here come from construct paths.
    context: { ...context, 'aws:cdk:enable-path-metadata': true },
    outdir: temporaryFolder('cdk'),
    analyticsReporting: false,
    // Checked where it is deployed from; here it would only cost two seconds.
    builtinCloudFormationValidation: false,
    ...(code === 'sources' ? { code: sourceCode } : {}),
  });
  return app.synth().directory;
};
