/** The templates of the package's local stack (`tools/local/prepared.ts`). */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { HandlerCode } from '../../lib/handler-code.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { type ConfigInput, parseConfig } from '../../src/domain/config/schema/config.ts';
import { synthesise } from '../../tools/local/assembly.ts';
import { templateFile } from '../../tools/local/prepared.ts';
import { type Resource, resourcesUsed, type Template } from '../../tools/local/template.ts';

const URL = 'https://parcels.example/batch';

/** Configurations with everything that adds a setting to a function. Functions ignore settings that they do not need. */
const INPUT: ConfigInput = {
  operations: {
    called: { target: [], downstream: { kind: 'http', url: URL }, merge: { keys: 'inputs[].id' } },
    started: { target: [], downstream: { kind: 'step-functions', stateMachine: 'parcels' } },
  },
};
const DESTINATIONS: ConfigInput['destinations'] = {
  called: { kind: 'http', url: URL, secret: { ssm: '/parcels' } },
  published: { kind: 'topic', name: 'parcels' },
};

/** The file that names the function in its asset. */
const NAME = 'name';

/** The build writes the code of the functions elsewhere. An asset only names its function. */
const namedCode: HandlerCode = (name) => {
  const folder = mkdtempSync(join(temporaryFolder('named'), 'code-'));
  writeFileSync(join(folder, NAME), name);
  return Code.fromAsset(folder);
};

/** Writes the templates. @throws Error if a configuration above is invalid */
export const writeLocalTemplates = (folder: string): void => {
  mkdirSync(folder, { recursive: true });
  for (const withDestinations of [true, false]) {
    const template = templateFor({ ...INPUT, ...(withDestinations ? { destinations: DESTINATIONS } : {}) });
    writeFileSync(join(folder, templateFile(withDestinations)), JSON.stringify(template));
  }
};

const templateFor = (input: ConfigInput): Template => {
  const config = parseConfig({ ...input, alarms: null });
  if (!config.ok) throw new Error(`a configuration of the build is invalid: ${JSON.stringify(config.problems)}`);
  const folder = synthesise(config.value, namedCode);
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const names = readdirSync(folder).flatMap((file) =>
    file.startsWith('asset.') ? [[file.slice('asset.'.length), read(join(file, NAME))] as const] : [],
  );
  const templates = readdirSync(folder)
    .filter((file) => file.endsWith('.template.json'))
    .map((file) => {
      const text = names.reduce((all, [hash, name]) => all.replaceAll(`${hash}.zip`, `${name}.zip`), read(file));
      return JSON.parse(text) as Template;
    });
  return {
    Resources: Object.assign({}, ...templates.map(({ Resources }) => withoutUnused(Resources))),
    Outputs: Object.assign({}, ...templates.map(({ Outputs }) => Outputs)),
  };
};

/** Resources that the local stack does not read stay only as the ends of references. */
const withoutUnused = (resources: Template['Resources']): Template['Resources'] =>
  Object.fromEntries(
    Object.entries(resources).map(([id, { Type, Metadata = {}, ...resource }]): [string, Resource] => {
      const path = { 'aws:cdk:path': Metadata['aws:cdk:path'] };
      return [id, resourcesUsed.has(Type) ? { ...resource, Type, Metadata: path } : { Type, Metadata: path }];
    }),
  );
