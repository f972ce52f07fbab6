/** The API function: the HTTP API behind a function URL or API Gateway. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { handle } from 'hono/aws-lambda';
import { monotonicFactory } from 'ulid';
import { lazyApi } from '../src/api/lazy.ts';
import { dynamoDBShares } from '../src/aws/dynamodb-shares.ts';
import { readMeter } from '../src/aws/read-units.ts';
import { type Environment, OPENAPI_ASSET, optionalSetting, setting } from '../src/domain/deployed/environment.ts';
import { parseLimits } from '../src/domain/deployed/limits.ts';
import { storedMode } from '../src/steps/producers/mode.ts';
import { atFirstInvocation, partsOf } from './compose.ts';
import type { Host } from './host.ts';
import { auditOf, fleetsOf, listsOf } from './stores.ts';

export const composeApp = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const stores = {
    tasks: parts.tasks(),
    waiting: parts.waiting(),
    locks: parts.locks(),
    batches: parts.batches(),
    operations: parts.operations(),
    buckets: parts.buckets(),
    fanOuts: parts.fanOuts(),
    lists: listsOf(environment, host),
    fleets: fleetsOf(environment, host),
    shares: dynamoDBShares(host.clients.dynamodb, setting(environment, 'batchLockTable')),
    audit: auditOf(environment, host, parts.base.config),
  };
  const onError = (cause: unknown): void =>
    host.log.error('request failed', { cause: cause instanceof Error ? cause.stack : String(cause) });
  const messages = { queues: parts.queues(), deadLetters: parts.deadLetters(), backlogs: parts.backlogs() };
  const measured = { readMeter: readMeter(host.clients.dynamodb) };
  const limits = optionalSetting(environment, 'limits');
  // The OpenAPI document is read on demand, so that it does not lengthen cold starts.
  const openApi = () => JSON.parse(readFileSync(join(environment.LAMBDA_TASK_ROOT ?? '', OPENAPI_ASSET), 'utf8'));
  return lazyApi({
    ...parts.base,
    ...stores,
    ...messages,
    ...measured,
    ...(limits === undefined ? {} : { limits: parseLimits(limits) }),
    powers: { producers: parts.producers, mode: storedMode(parts.base.config, parts.stage()) },
    openApi,
    newId: monotonicFactory(),
    onError,
  });
};

type Handler = ReturnType<typeof handle>;
type Event = Parameters<Handler>[0];

export const compose = (environment: Environment, host: Host) => {
  const handler: Handler = handle(composeApp(environment, host));
  return (event: Event) => handler(withSentPath(event));
};

/**
 * The event with the path as it was sent, with the version.
 *
 * - A function URL passes this path. An emulator decodes it; then the `#` of a batch id would end the path.
 * - A REST API passes this path in the context only. The version is its stage.
 * - An HTTP API decodes the path, except `%25`, the escape of `%`. An escape in a Target would be decoded once more.
 */
const withSentPath = (event: Event): Event => {
  if ('rawPath' in event) return { ...event, rawPath: encoded(event.rawPath, isFunctionUrl(event)) };
  return 'path' in event.requestContext ? { ...event, path: encoded(event.requestContext.path, true) } : event;
};

const isFunctionUrl = ({ requestContext }: Extract<Event, { rawPath: string }>): boolean =>
  requestContext.domainName.includes('.lambda-url.');

const encoded = (path: string, hasEscapes: boolean): string =>
  path.replace(hasEscapes ? /[#?]/g : /[#?]|%(?!25)/g, encodeURIComponent);

export const handler = atFirstInvocation(compose);
