/** The settings that apply to an operation: values in the form of a configuration file, and where each value comes from. */

import type { Millis } from '../ids.ts';
import { type Duration, printDuration } from './duration.ts';
import type { DownstreamTarget, Headers } from './endpoints.ts';
import type { Auth } from './http-format.ts';
import { MEANINGS, type SettingPath } from './meanings.ts';
import type { Config, Operation } from './resolved.ts';

/**
 * `operation`: set for this operation. `configuration`: set in the configuration for all operations. `derived`: not set,
 * but it follows from other settings of this operation. `built-in`: not set, so Groupage's default applies.
 */
export type SettingSource = 'operation' | 'configuration' | 'derived' | 'built-in';

/** The sources of settings by their paths. A setting that is not listed has its built-in default. */
export type Sources = Readonly<Partial<Record<string, SettingSource>>>;

export interface Setting {
  readonly path: SettingPath;
  /** As in a configuration file: `"10s"`, `100`, `["depot"]`, null for none. Literal header values are hidden. */
  readonly value: unknown;
  readonly source: SettingSource;
  /** One sentence, with Markdown's backticks. */
  readonly meaning: string;
}

type SettingsOf<Subject> = Readonly<Partial<Record<SettingPath, (of: Subject) => unknown>>>;

/** What replaces a value that may be a secret. */
const HIDDEN = '(hidden)';

/** The values of literal headers are hidden, because nothing but their names tells whether they are secrets. */
const withoutLiterals = (headers: Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? HIDDEN : value]),
  );

/** As for headers, nothing but the names of parameters tells whether they are secrets. */
const withoutParameters = (auth: Auth | null): unknown =>
  auth?.kind === 'oauth2' ? { ...auth, tokenUrl: withoutQuery(auth.tokenUrl), with: withoutLiterals(auth.with) } : auth;

/** A URL may contain a key in its query. */
const withoutQuery = (url: string): string => {
  const { origin, pathname, search, hash } = new URL(url);
  // `URL` encodes the braces around grouping fields.
  const path = pathname.replaceAll('%7B', '{').replaceAll('%7D', '}');
  return `${origin}${path}${search || hash ? `?${HIDDEN}` : ''}`;
};

type OfKind<Kind extends DownstreamTarget['kind']> = Extract<DownstreamTarget, { readonly kind: Kind }>;

/** A setting of some kinds of downstreams. @returns undefined for the other kinds */
const onlyOf =
  <Kind extends DownstreamTarget['kind']>(kinds: readonly Kind[], of: (downstream: OfKind<Kind>) => unknown) =>
  ({ downstream }: Operation): unknown =>
    kinds.some((kind) => kind === downstream.kind) ? of(downstream as OfKind<Kind>) : undefined;

const ANSWERING = ['http', 'lambda', 'step-functions'] as const;
const written = (span: Millis): Duration => (span === 0 ? '0s' : printDuration(span));
const orNone = (span: Millis | null): Duration | null => (span === null ? null : written(span));

/** Reads each setting of an operation. A setting that does not exist for the operation is undefined. */
const OF_OPERATION: SettingsOf<Operation> = {
  target: ({ keys }) => keys,
  'batch.maxSize': ({ batch }) => batch.maxSize,
  'batch.maxBytes': ({ batch }) => batch.maxBytes,
  'batch.maxWeight': ({ batch }) => batch.maxWeight,
  'batch.maxWait': ({ batch }) => written(batch.maxWait),
  'batch.quietPeriod': ({ batch }) => written(batch.quietPeriod),
  'batch.minSize': ({ batch }) => batch.minSize,
  'batch.window': ({ batch }) => orNone(batch.window),
  bypass: ({ batch }) => (batch.bypass === null ? null : undefined),
  'bypass.bytes': ({ batch }) => batch.bypass ?? undefined,
  merge: ({ merge }) => (merge === null ? null : undefined),
  'merge.keys': ({ merge }) => merge?.keys,
  'concurrency.perTarget': ({ concurrency }) => concurrency.perTarget,
  'concurrency.total': ({ concurrency }) => concurrency.total,
  rateLimit: ({ rateLimit }) => rateLimit,
  limits: ({ limits }) => limits,
  shards: ({ shards }) => shards,
  'downstream.kind': ({ downstream }) => downstream.kind,
  'downstream.url': onlyOf(['http'], ({ url }) => withoutQuery(url)),
  'downstream.method': onlyOf(['http'], ({ method }) => method),
  'downstream.auth': onlyOf(['http'], ({ auth }) => withoutParameters(auth)),
  'downstream.request': onlyOf(['http'], ({ request }) => request),
  'downstream.response': onlyOf(['http'], ({ response }) => response),
  'downstream.function': onlyOf(['lambda'], (of) => of.function),
  'downstream.stateMachine': onlyOf(['step-functions'], ({ stateMachine }) => stateMachine),
  'downstream.name': onlyOf(['queue'], ({ name }) => name),
  'downstream.headers': onlyOf(['http'], ({ headers }) => withoutLiterals(headers)),
  'downstream.secret': onlyOf(['http'], ({ secret }) => secret),
  'downstream.legacySignature': onlyOf(['http'], ({ legacySignature }) => legacySignature),
  'downstream.usageHeader': onlyOf(['http'], ({ usageHeader }) => usageHeader),
  'downstream.timeout': ({ downstream }) => written(downstream.timeout),
  'downstream.deadline': onlyOf(ANSWERING, ({ deadline }) => written(deadline)),
  'downstream.requireResults': onlyOf(ANSWERING, ({ requireResults }) => requireResults),
  'retry.immediate': ({ retry }) => retry.immediate,
  'retry.maxAttempts': ({ retry }) => retry.maxAttempts,
  'retry.minDelay': ({ retry }) => written(retry.minDelay),
  'retry.maxDelay': ({ retry }) => written(retry.maxDelay),
  'retry.isolate': ({ retry }) => retry.isolate,
  'retry.bisect': ({ retry }) => retry.bisect,
  circuit: ({ circuit }) => (circuit === null ? null : undefined),
  'circuit.failures': ({ circuit }) => circuit?.failures,
  'circuit.coolDown': ({ circuit }) => (circuit === null ? undefined : written(circuit.coolDown)),
  'callbacks.failed': ({ callbacks }) => callbacks.failed,
  'callbacks.succeeded': ({ callbacks }) => callbacks.succeeded,
  keepTasks: ({ keepTasks }) => written(keepTasks),
  'producers.send': ({ producers }) => producers?.send,
  'producers.coalesce': ({ producers }) => producers?.coalesce,
  'producers.acknowledge': ({ producers }) => producers?.acknowledge,
  'producers.redrive': ({ producers }) => producers?.redrive,
};

/** Settings of the whole configuration that decide how long tasks of each operation wait. */
const OF_ALL: SettingsOf<Pick<Config, 'register'>> = {
  'register.maxMessages': ({ register }) => register.maxMessages,
  'register.maxWait': ({ register }) => written(register.maxWait),
};

const valuesOf = <Subject>(
  settings: SettingsOf<Subject>,
  subject: Subject,
): readonly (readonly [SettingPath, unknown])[] =>
  Object.entries(settings).flatMap(([path, of]) => {
    const value = of(subject);
    return value === undefined ? [] : [[path as SettingPath, value] as const];
  });

/** The settings of an operation and their values, without the settings that do not exist for it. */
export const settingsIn = (operation: Operation): readonly (readonly [path: SettingPath, value: unknown])[] =>
  valuesOf(OF_OPERATION, operation);

/** The paths of the settings that all operations share. */
export const SHARED_SETTINGS = Object.keys(OF_ALL) as readonly SettingPath[];

/** All settings that apply to an operation, with their sources. */
export const settingsFor = (config: Config, operation: Operation): readonly Setting[] => {
  const sources = config.sources[operation.operation] ?? {};
  return [...settingsIn(operation), ...valuesOf(OF_ALL, config)].map(([path, value]) => ({
    path,
    value,
    source: sources[path] ?? 'built-in',
    meaning: MEANINGS[path],
  }));
};
