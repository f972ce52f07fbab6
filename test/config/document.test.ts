import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { destinationKeys, downstreamKeys } from '../../src/domain/config/schema/endpoints.ts';
import { secretKeys } from '../../src/domain/config/schema/headers.ts';
import { limitKeys } from '../../src/domain/config/schema/limits.ts';
import { operationKeys } from '../../src/domain/config/schema/operation.ts';
import { alarmKeys, fanOutKeys, listKeys, registerKeys } from '../../src/domain/config/schema/sections.ts';
import { HTTP, problemsOf } from './problems.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/reference/configuration.md'), 'utf8');
/** The sections that apply to all operations. */
const OF_ALL = ['limits', 'producers', 'producerRules', 'register', 'fanOuts', 'lists', 'alarms', 'keepAudit'];
const rowsIn = (part: string): string[][] =>
  part
    .split('\n')
    .filter((line) => /^\| `[\w.]+` \|/.test(line))
    .map((line) => line.slice(2, -2).split(' | '))
    .filter((cells) => cells.length === 5);
/** The rows of every table of keys. */
const rows = rowsIn(text);
/** The keys of operations themselves, in the table of their section. */
const ofOperations = rowsIn(text.slice(text.indexOf('## An operation'), text.indexOf('## producers'))).map(String);
const keyOf = ([name = '']: readonly string[]): string => name.replaceAll('`', '');
/** `limits` is also a key of an operation, and `producers` is also a section of it. */
const isOfAll = (row: readonly string[]): boolean => {
  const name = keyOf(row);
  return (
    OF_ALL.includes(name.split('.')[0] ?? '') && !name.startsWith('producers.') && !ofOperations.includes(String(row))
  );
};
/** A value at a path, with what else its section needs. */
const within = (path: readonly string[], value: unknown, needed: object = {}): object => {
  const [name = '', ...rest] = path;
  return { ...needed, [name]: rest.length === 0 ? value : within(rest, value) };
};
/** A limit with a value at the path of a row. It is valid without the value too. */
const limitWith = (name: string, value: unknown): object => ({
  limits: { api: within(name.split('.').slice(1), value, { calls: 10, concurrency: { calls: 1 } }) },
});

describe('the configuration page', () => {
  it('has every key of the schema once, and no other', () => {
    const sections = ['batch', 'merge', 'bypass', 'concurrency', 'retry', 'callbacks', 'circuit', 'producers'];
    const withRow = ['merge', 'bypass', 'circuit', 'target', 'downstream', 'rateLimit', 'shards', 'keepTasks'];
    const every = (kinds: Readonly<Record<string, readonly string[]>>) => [...new Set(Object.values(kinds).flat())];
    const keys = [
      'operations',
      'destinations',
      ...OF_ALL,
      ...registerKeys.map((key) => `register.${key}`),
      ...fanOutKeys.map((key) => `fanOuts.${key}`),
      ...listKeys.map((key) => `lists.${key}`),
      ...alarmKeys.map((key) => `alarms.${key}`),
      ...(limitKeys.limit ?? []).filter((key) => key !== 'concurrency').map((key) => `limits.${key}`),
      ...(limitKeys.concurrency ?? []).map((key) => `limits.concurrency.${key}`),
      ...(operationKeys.operation ?? []).filter((key) => withRow.includes(key) || !sections.includes(key)),
      ...sections.flatMap((name) => (operationKeys[name] ?? []).map((key) => `${name}.${key}`)),
      ...every(downstreamKeys).map((key) => `downstream.${key}`),
      ...every(destinationKeys).map((key) => `destinations.${key}`),
      ...secretKeys.map((key) => `secret.${key}`),
    ];
    expect(rows.map(keyOf).toSorted()).toEqual(keys.toSorted());
  });

  it('has the actual defaults', () => {
    /** The values of a configuration, without their sources: these differ if a default is set. */
    const valuesOf = (input: object): object => {
      const parsed = parseConfig(input);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
      return { ...parsed.value, sources: {} };
    };
    const operations = { ship: { target: [], downstream: HTTP } };
    const usual = valuesOf({ operations });
    for (const row of rows) {
      const [, , shown = ''] = row;
      const [, json] = /^`([^`]+)`/.exec(shown) ?? [];
      const [section = '', key] = keyOf(row).split('.');
      // A configuration with this default has to equal one without the key.
      if (json === undefined || section === 'destinations' || section === 'operations') continue;
      const value = JSON.parse(json) as unknown;
      if (section === 'limits' && key !== undefined) {
        const [withDefault, without] = [value, undefined].map((each) =>
          valuesOf({ operations, ...limitWith(keyOf(row), each) }),
        );
        expect([keyOf(row), withDefault]).toEqual([keyOf(row), without]);
        continue;
      }
      const set =
        section === 'downstream'
          ? { downstream: { ...HTTP, [key ?? '']: value } }
          : { [section]: key === undefined ? value : { [key]: value } };
      const [whole, operation] = isOfAll(row) ? [set, {}] : [{}, set];
      const again = valuesOf({ operations: { ship: { target: [], downstream: HTTP, ...operation } }, ...whole });
      expect([keyOf(row), again]).toEqual([keyOf(row), usual]);
    }
  });

  it('has valid examples', () => {
    const needs: Record<string, object> = {
      bypass: { batch: { window: '5m' } },
      'batch.minSize': { batch: { quietPeriod: '200ms' } },
      'register.maxMessages': { maxWait: '1s' },
      'downstream.usageHeader': { limits: ['vendor-api'] },
    };
    for (const row of rows) {
      const name = keyOf(row);
      const [section = '', key] = name.split('.');
      if (['operations', 'destinations', 'secret'].includes(section) || name === 'downstream.kind') continue;
      const value = JSON.parse((row[4] ?? '').replaceAll('`', '')) as unknown;
      if (section === 'limits' && key !== undefined) {
        const config = { operations: { ship: { target: [], downstream: HTTP } }, ...limitWith(name, value) };
        expect([name, parseConfig(config)]).toEqual([name, { ok: true, value: expect.any(Object) }]);
        continue;
      }
      if (isOfAll(row)) {
        const ofAll = key === undefined ? value : { ...needs[name], [key]: value };
        const destinations = { ops: { kind: 'queue', name: 'ops' } };
        const config = { operations: { ship: { target: [], downstream: HTTP } }, destinations, [section]: ofAll };
        expect([name, parseConfig(config)]).toEqual([name, { ok: true, value: expect.any(Object) }]);
        continue;
      }
      const kinds = {
        function: { kind: 'lambda' },
        stateMachine: { kind: 'step-functions' },
        name: { kind: 'queue' },
        legacySignature: { ...HTTP, secret: { ssm: 'a' } },
      } as Record<string, object>;
      const base: Record<string, unknown> = { downstream: HTTP, ...needs[section], ...needs[name] };
      const around = section === 'downstream' ? (kinds[key ?? ''] ?? HTTP) : (base[section] as object | undefined);
      const operation = { ...base, [section]: key === undefined ? value : { ...around, [key]: value } };
      // The page does not have to configure what it names.
      const problems = problemsOf(operation).filter(
        (each) => !/names an unknown (destination|limit|producer)/.test(each),
      );
      expect([name, problems]).toEqual([name, []]);
    }
  });

  it('names existing keys in its list of combinations', () => {
    const table = text.slice(text.indexOf('## What cannot go together'));
    const named = [...table.matchAll(/`([a-z]\w*(?:\.\w+)*)`/g)].map(([, name = '']) => name);
    const known = [...rows.map(keyOf), 'callbacks'];
    expect(named.length).toBeGreaterThan(25);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});
