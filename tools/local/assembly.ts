/** Synthesizes the CDK app in this process: the local stack runs the template that a deployment uses. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { groupageApp } from '../../lib/app.ts';
import type { HandlerCode } from '../../lib/handler-code.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { writeFunction } from './function-code.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const sourceCode: HandlerCode = (name, config) => {
  const folder = join(temporaryFolder('function'), name);
  writeFunction(folder, name, config);
  return Code.fromAsset(folder);
};

/**
 * @param code whether functions load the sources, or the bundles that a deployment uploads, or code of the caller.
 * @returns the output folder.
 */
export const synthesise = (config: Config, code: 'sources' | 'bundles' | HandlerCode = 'sources'): string => {
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
    ...(code === 'bundles' ? {} : { code: code === 'sources' ? sourceCode : code }),
  });
  return app.synth().directory;
};
