/**
 * The template of the published package. The package has no CDK, so its build synthesizes the templates once
 * (`scripts/build/local-templates.ts`), and each start sets the values that depend on the configuration.
 * `test/local/prepared.test.ts` compares the result with what the CDK synthesizes for the same configuration.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HANDLERS } from '../../lib/handler-names.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { hasDestinations } from '../../src/domain/callbacks/callback.ts';
import {
  batchVisibility,
  type Config,
  callbackTimeout,
  callbackVisibility,
  handlerTimeout,
  registerVisibility,
} from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { SECOND } from '../../src/domain/timings.ts';
import { writeFunction } from './function-code.ts';
import type { Template } from './template.ts';

/** The folder of the templates in the package. */
const PREPARED = join(import.meta.dirname, '../../local');

/** The file of the template for configurations with destinations, or without. */
export const templateFile = (withDestinations: boolean): string =>
  withDestinations ? 'with-destinations.json' : 'without-destinations.json';

/** Creates a cloud assembly for a configuration. @param from the folder of the templates. @returns the folder. */
export const preparedAssembly = (config: Config, from = PREPARED): string => {
  const folder = temporaryFolder('assembly');
  const text = readFileSync(join(from, templateFile(hasDestinations(config))), 'utf8');
  const template = withValues(JSON.parse(text) as Template, valuesOf(config));
  const templateName = 'local.template.json';
  const artifact = { type: 'aws:cloudformation:stack', properties: { templateFile: templateName } };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ artifacts: { local: artifact } }));
  writeFileSync(join(folder, templateName), JSON.stringify(template));
  for (const name of HANDLERS) writeFunction(join(folder, `asset.${name}`), name, config);
  return folder;
};

type Values = Readonly<Record<string, Readonly<Record<string, number>>>>;

const seconds = (duration: Millis): number => duration / SECOND;

/** The properties that depend on the configuration, by the construct path within the flow. */
const valuesOf = (config: Config): Values => ({
  'Register/Queue': { VisibilityTimeout: seconds(registerVisibility(config)) },
  'RegisterHandler/Function/SqsEventSource': {
    BatchSize: config.register.maxMessages,
    MaximumBatchingWindowInSeconds: seconds(config.register.maxWait),
  },
  'Batch/Queue': { VisibilityTimeout: seconds(batchVisibility(config)) },
  'BatchHandler/Function': { Timeout: seconds(handlerTimeout(config)) },
  ...(hasDestinations(config)
    ? {
        'Callback/Queue': { VisibilityTimeout: seconds(callbackVisibility(config)) },
        'CallbackHandler/Function': { Timeout: seconds(callbackTimeout(config)) },
      }
    : {}),
});

const withValues = ({ Resources, ...rest }: Template, values: Values): Template => ({
  ...rest,
  Resources: Object.fromEntries(
    Object.entries(Resources).map(([id, resource]) => {
      const more = values[pathOf(resource.Metadata?.['aws:cdk:path'])];
      return [id, more ? { ...resource, Properties: { ...resource.Properties, ...more } } : resource];
    }),
  ),
});

/** The construct path within the flow, without the name of the stack and without the name of an event source's queue. */
const pathOf = (path: unknown): string =>
  /^[^/]+\/Flow\/(?<path>[^:]+)(?::[^/]*)?\/Resource$/.exec(String(path))?.groups?.path ?? '';
