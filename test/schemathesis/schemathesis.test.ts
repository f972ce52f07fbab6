/** Schemathesis asks the API of a local stack, over HTTP, all that the published OpenAPI document lets it ask. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { parseJson } from '../../src/util/json-text.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { pythonEnvironment } from '../backends/engines/python.ts';
import { NOTHING_MAY_BE_MISSING } from '../backends/missing.ts';
import { committed } from '../published/ajv.ts';
import { ACCEPTED, type Accepted } from './accepted.ts';
import { type Finding, type Report, readReport } from './findings.ts';
import { type ServedStack, startServedStack } from './served-stack.ts';

const at = (file: string): string => join(import.meta.dirname, file);
/** More arguments of Schemathesis, such as `--seed 7 --max-examples 100`. They win over those of `schemathesis.toml`. */
const MORE = process.env.GROUPAGE_SCHEMATHESIS?.split(' ') ?? [];

describe('Schemathesis', () => {
  let missing = '';
  let served: ServedStack | undefined;
  let report: Report;
  let output = '';
  beforeAll(async () => {
    let environment: string;
    try {
      const requirements = at('requirements.txt');
      environment = await pythonEnvironment({ name: 'schemathesis', requirements, version: '3.11+' });
    } catch (cause) {
      if (NOTHING_MAY_BE_MISSING) throw cause;
      missing = reasonOf(cause);
      return;
    }
    served = await startServedStack();
    const folder = temporaryFolder('schemathesis');
    const file = join(folder, 'report.ndjson');
    const options = ['--checks', 'all', '--report', 'ndjson', '--report-ndjson-path', file, ...MORE];
    const args = [at('../../contract/openapi.json'), '--url', served.url, ...options];
    output = await new Promise((resolve) => {
      execFile(
        join(environment, 'bin', 'schemathesis'),
        ['--config-file', at('schemathesis.toml'), '--no-color', 'run', ...args],
        {
          cwd: folder,
          maxBuffer: 64 * 1_024 * 1_024,
          env: { PATH: process.env.PATH, SCHEMATHESIS_HOOKS: at('hooks.py'), PYTHONDONTWRITEBYTECODE: '1' },
        },
        // The exit status says whether there are findings. The report has them.
        (_, stdout, stderr) => resolve(stdout + stderr),
      );
    });
    report = readReport(file);
  });
  beforeEach((context) => {
    if (missing) context.skip(missing);
  });
  afterAll(() => served?.stop());

  it('asks all that there is to ask', () => {
    const { paths } = committed('openapi.json') as { paths: Record<string, object> };
    const all = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(report.errors, output).toEqual([]);
    expect(all.filter((operation) => !report.succeeded.has(operation))).toEqual([]);
    // An engine on a busy machine may answer too late.
    expect(served?.errors.filter((error) => !/TimeoutError|TimeIsUp|GaveUp/.test(error))).toEqual([]);
  });

  it('finds nothing but what is accepted', () => {
    // Node.js refuses a path of some KB with 431 before any route is known, so no operation of the document has it.
    const others = report.findings.filter((finding) => finding.status !== 431 && acceptedBy(finding).length === 0);
    const examples = [...Map.groupBy(others, ({ check }) => check).values()].flatMap((each) => each.slice(0, 5));
    expect(examples.map(shown), `${others.length} findings, of which five of each check are shown`).toEqual([]);
  });

  // The requests of other seeds may not meet each entry.
  it.skipIf(MORE.length > 0)('finds all that is accepted', () => {
    const found = new Set(report.findings.flatMap(acceptedBy));
    expect(ACCEPTED.filter((entry) => !found.has(entry))).toEqual([]);
  });
});

/** The entries that accept the errors of a refusal. Empty if one of its errors is not accepted. */
const acceptedBy = ({ check, status, answer }: Finding): readonly Accepted[] => {
  if (check !== 'positive_data_acceptance' || status !== 400) return [];
  const problem = parseJson(answer);
  const { errors } = (problem.ok ? problem.value : {}) as { readonly errors?: readonly { readonly reason: string }[] };
  const entries = (errors ?? []).map(({ reason }) => ACCEPTED.find(({ reasons }) => reasons.test(reason)));
  return entries.every((entry) => entry !== undefined) ? entries : [];
};

const shown = ({ operation, check, message, request, status, answer }: Finding): string =>
  `${operation}: ${check}: ${message.slice(0, 1_000)}\n${request.slice(0, 1_000)}\n→ ${status} ${answer.slice(0, 500)}`;
