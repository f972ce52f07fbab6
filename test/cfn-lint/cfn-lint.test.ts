/**
 * Checks each template that the tests in test/infrastructure synthesise with cfn-lint, for one region. Regions differ in
 * resource types and their properties, so templates that together have all of these are checked for every region.
 */
import { execFile } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { pythonEnvironment } from '../backends/engines/python.ts';
import { NOTHING_MAY_BE_MISSING } from '../backends/missing.ts';
import type { Template } from '../infrastructure/rules/template.ts';
import { ACCEPTED, type Finding } from './accepted.ts';

const FOLDER = process.env.GROUPAGE_TEMPLATES ?? '';
const ONE_REGION = 'us-east-1';
const SOURCES = join(import.meta.dirname, '../infrastructure');

const templates = existsSync(FOLDER) ? readdirSync(FOLDER).map((file) => join(FOLDER, file)) : [];

/** A finding in cfn-lint's own form. */
interface Reported {
  readonly Rule: { readonly Id: string };
  readonly Message: string;
  readonly Location: { readonly Path?: readonly (string | number)[] };
}

/** The templates that have a type or a property of a resource that none of those before has. */
const varied = (files: readonly string[]): string[] => {
  const seen = new Set<string>();
  return files.filter((file) => {
    const { Resources } = JSON.parse(readFileSync(file, 'utf8')) as Template;
    const before = seen.size;
    for (const { Type, Properties = {} } of Object.values(Resources))
      for (const property of ['', ...Object.keys(Properties)]) seen.add(`${Type} ${property}`);
    return seen.size > before;
  });
};

/** All findings, the informational ones too. */
const lint = async (environment: string, files: readonly string[], regions: string): Promise<Finding[]> => {
  const options = ['--include-checks', 'I', '--regions', regions, '--format', 'json'];
  const { stdout } = await promisify(execFile)(
    join(environment, 'bin', 'cfn-lint'),
    [...options, '--non-zero-exit-code', 'none', '--', ...files],
    { maxBuffer: 256 * 1_024 * 1_024 },
  );
  return (JSON.parse(stdout) as Reported[]).map(({ Rule, Message, Location }) => ({
    rule: Rule.Id,
    message: Message,
    at: (Location.Path ?? []).join('/'),
  }));
};

const broken = (): string => {
  const file = join(temporaryFolder('cfn-lint'), 'broken.json');
  const Queue = { Type: 'AWS::SQS::Queue', Properties: { VisibilityTime: 60 } };
  writeFileSync(file, JSON.stringify({ Resources: { Queue } }));
  return file;
};

describe('cfn-lint', () => {
  if (templates.length === 0 && !NOTHING_MAY_BE_MISSING)
    return it.skip('needs the templates of test/infrastructure, in the same run', () => {});

  let missing = '';
  let findings: readonly Finding[] = [];
  let ofBroken: readonly Finding[] = [];
  beforeAll(async () => {
    const requirements = join(import.meta.dirname, 'requirements.txt');
    try {
      const environment = await pythonEnvironment({ name: 'cfn-lint', requirements, version: '3.11+' });
      const found = await Promise.all([
        lint(environment, templates, ONE_REGION),
        lint(environment, varied(templates), 'ALL_REGIONS'),
        lint(environment, [broken()], ONE_REGION),
      ]);
      findings = [...found[0], ...found[1]];
      ofBroken = found[2];
    } catch (cause) {
      if (NOTHING_MAY_BE_MISSING) throw cause;
      missing = reasonOf(cause);
    }
  });

  it('finds nothing in any template but what is accepted', (context) => {
    if (missing) context.skip(missing);
    const unexplained = findings.filter((each) => !ACCEPTED.some(({ finding }) => finding(each)));
    expect([...new Set(unexplained.map(({ rule, at, message }) => `${rule} ${at}: ${message}`))]).toEqual([]);
  });

  it('finds an unknown property', (context) => {
    if (missing) context.skip(missing);
    expect(ofBroken.map(({ rule, at }) => `${rule} ${at}`)).toContain(
      'E3002 Resources/Queue/Properties/VisibilityTime',
    );
  });

  it('still finds all that is accepted', (context) => {
    if (missing) context.skip(missing);
    const unused = ACCEPTED.filter(({ finding }) => !findings.some(finding));
    expect(unused.map(({ reason }) => reason)).toEqual([]);
  });

  it('gets the templates of all tests', () => {
    const others = globSync('**/*.ts', { cwd: SOURCES }).filter(
      (file) =>
        file !== 'synthesised.ts' &&
        /\bTemplate\b[^;]*aws-cdk-lib\/assertions/.test(readFileSync(join(SOURCES, file), 'utf8')),
    );
    expect(others).toEqual([]);
    expect(templates.length).toBeGreaterThan(60);
  });
  return undefined;
});
