/** Synthesizes the CDK app in this process: the local stack runs the template that a deployment uses. */
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

/** Functions load the sources instead of bundles: no build is needed, and stack traces point into the sources. */
const sourceCode: HandlerCode = (name, config) => {
  const folder = join(temporaryFolder('function'), name);
  mkdirSync(folder);
  const source = pathToFileURL(join(ROOT, 'lambdas', `${name}.ts`)).href;
  writeFileSync(join(folder, 'index.mjs'), `export * from ${JSON.stringify(source)};\n`);
  writeFileSync(join(folder, CONFIG_ASSET), JSON.stringify(config));
  if (name === 'api') copyFileSync(join(ROOT, 'contract', OPENAPI_ASSET), join(folder, OPENAPI_ASSET));
  return Code.fromAsset(folder);
};

/** @param code whether functions load the sources, or the bundles that a deployment uploads. @returns the output folder. */
export const synthesise = (config: Config, code: 'sources' | 'bundles' = 'sources'): string => {
  const { context } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')) as { context: Record<string, unknown> };
  const app = groupageApp({
    config,
    stage: 'local',
    // The local stack serves the API itself.
    api: 'function-url',
    // The local stack makes names from construct paths.
    context: { ...context, 'aws:cdk:enable-path-metadata': true },
    outdir: temporaryFolder('cdk'),
    analyticsReporting: false,
    // Skip the validation of the template, which takes two seconds. A deployment validates the template anyway.
    builtinCloudFormationValidation: false,
    ...(code === 'sources' ? { code: sourceCode } : {}),
  });
  return app.synth().directory;
};
