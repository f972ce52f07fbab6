import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MEANINGS } from '../../src/domain/config/meanings.ts';
import { operationFor } from '../../src/domain/config/resolved.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { type SettingSource, settingsFor } from '../../src/domain/config/settings.ts';
import { configFileSchema } from '../../tools/contract/config.ts';
import { operationName } from '../factories/factories.ts';
import { HTTP } from './problems.ts';

const settingsOf = (operation: object, others: object = {}) => {
  const parsed = parseConfig({ operations: { ship: { target: [], downstream: HTTP, ...operation } }, ...others });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const settings = settingsFor(parsed.value, operationFor(parsed.value, operationName('ship')));
  const by = new Map<string, { value: unknown; source: SettingSource }>(
    settings.map(({ path, value, source }) => [path, { value, source }]),
  );
  return (path: string) => by.get(path);
};

describe('the settings of an operation', () => {
  it('name the source of each value, also if it equals the default', () => {
    const of = settingsOf({ batch: { maxSize: 100, maxWait: '60s' }, retry: { maxAttempts: undefined } });
    expect(of('target')).toEqual({ value: [], source: 'operation' });
    expect(of('batch.maxSize')).toEqual({ value: 100, source: 'operation' });
    expect(of('batch.maxWait')).toEqual({ value: '1m', source: 'operation' });
    expect(of('retry.maxAttempts')).toEqual({ value: 5, source: 'built-in' });
    expect(of('keepTasks')).toEqual({ value: '30d', source: 'built-in' });
    expect(of('rateLimit')).toEqual({ value: null, source: 'built-in' });
  });

  it('say which values follow from other settings', () => {
    const of = settingsOf({ batch: { window: '5m' }, merge: { keys: 'inputs[].id' } });
    expect(of('batch.maxWait')).toEqual({ value: '5m', source: 'derived' });
    expect(of('concurrency.perTarget')).toEqual({ value: 1, source: 'derived' });
    expect(of('merge.keys')).toEqual({ value: 'inputs[].id', source: 'operation' });
    expect(of('merge')).toBeUndefined();
    // The default of maxBytes depends on the kind of downstream, not on other settings.
    const machine = settingsOf({ downstream: { kind: 'step-functions', stateMachine: 'render' } });
    expect(machine('batch.maxBytes')).toEqual({ value: 250_000, source: 'built-in' });
  });

  it('include those that all operations share', () => {
    expect(settingsOf({})('register.maxWait')).toEqual({ value: '0s', source: 'built-in' });
    const of = settingsOf({}, { register: { maxWait: '2s' } });
    expect(of('register.maxWait')).toEqual({ value: '2s', source: 'configuration' });
    expect(of('register.maxMessages')).toEqual({ value: 10, source: 'built-in' });
  });

  it('are found also if their section has no defaults', () => {
    // With the default of retry.immediate, an attempt would be longer than a function may run.
    const of = settingsOf({ downstream: { kind: 'lambda', function: 'f', timeout: '14m' }, retry: { immediate: 0 } });
    expect(of('downstream.timeout')).toEqual({ value: '14m', source: 'operation' });
    expect(of('downstream.function')).toEqual({ value: 'f', source: 'operation' });
    expect(of('downstream.url')).toBeUndefined();
  });

  it('name the limits of its calls in the order of their names', () => {
    const limits = { b: { calls: 1 }, a: { calls: 1 } };
    expect(settingsOf({ limits: ['b', 'a'] }, { limits })('limits')).toEqual({
      value: ['a', 'b'],
      source: 'operation',
    });
    expect(settingsOf({}, { limits })('limits')).toEqual({ value: [], source: 'built-in' });
  });

  it('show that something is switched off', () => {
    const of = settingsOf({ circuit: null });
    expect(of('circuit')).toEqual({ value: null, source: 'operation' });
    expect(of('circuit.failures')).toBeUndefined();
    expect(settingsOf({ circuit: {} })('circuit.failures')).toEqual({ value: 5, source: 'built-in' });
  });

  it('never show what may be a secret, but the names of secrets', () => {
    const of = settingsOf({
      downstream: {
        kind: 'http',
        url: 'https://parcels.example/batch?key=0xbeef',
        headers: { 'x-team': '0xbeef', authorization: { ssm: '/parcels/key' } },
        secret: { secretsManager: 'parcels' },
      },
    });
    expect(of('downstream.url')?.value).toBe('https://parcels.example/batch?(hidden)');
    expect(of('downstream.headers')?.value).toEqual({ 'x-team': '(hidden)', authorization: { ssm: '/parcels/key' } });
    expect(of('downstream.secret')).toEqual({ value: { secretsManager: 'parcels' }, source: 'operation' });
  });
});

type Schema = { readonly properties?: Record<string, Schema>; readonly anyOf?: Schema[]; readonly oneOf?: Schema[] };

/** Settings that are shown as a whole. */
const AS_A_WHOLE = ['downstream.request', 'downstream.response', 'downstream.auth'];

/** The keys of a section that have values: those of its sections, of all kinds, instead of the sections. */
const leaves = (schema: Schema, path: string): string[] => {
  const kinds = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const keys = kinds.flatMap(({ properties = {} }) => Object.entries(properties));
  const isReference = keys.every(([name]) => name === 'ssm' || name === 'secretsManager');
  if (isReference || AS_A_WHOLE.includes(path)) return [path];
  const isNullable = kinds.length > 1 && !schema.oneOf;
  return [
    ...(isNullable ? [path] : []),
    ...keys.flatMap(([name, each]) => leaves(each, path ? `${path}.${name}` : name)),
  ];
};

describe('the meanings of settings', () => {
  it('cover each setting of an operation', () => {
    const { properties } = configFileSchema() as unknown as {
      properties: { operations: { additionalProperties: Schema } };
    };
    const known = Object.keys(MEANINGS).filter((path) => !path.startsWith('register.'));
    expect([...new Set(leaves(properties.operations.additionalProperties, ''))].sort()).toEqual(known.sort());
  });

  it('are those of the documentation', () => {
    const page = readFileSync('docs/reference/configuration.md', 'utf8').replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
    // `limits` is also a key of the file, in the table before the first heading.
    const rows = page.slice(page.indexOf('## An operation')).split('\n');
    for (const [path, meaning] of Object.entries(MEANINGS)) {
      const [row = ''] = rows.filter((line) => line.startsWith(`| \`${path}\` |`));
      expect(row.split(' | ')[3], path).toBe(meaning);
    }
  });
});
