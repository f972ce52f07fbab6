/** The API function: the HTTP API behind a function URL. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { handle } from 'hono/aws-lambda';
import { monotonicFactory } from 'ulid';
import { lazyApi } from '../src/api/lazy.ts';
import { readMeter } from '../src/aws/read-units.ts';
import { type Environment, OPENAPI_ASSET } from '../src/domain/deployed/environment.ts';
import { atFirstInvocation, type Host, partsOf } from './compose.ts';
import { fleetsOf, listsOf } from './stores.ts';

export const composeApp = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const stores = {
    tasks: parts.tasks(),
    waiting: parts.waiting(),
    locks: parts.locks(),
    batches: parts.batches(),
    operations: parts.operations(),
    fanOuts: parts.fanOuts(),
    lists: listsOf(environment, host),
    fleets: fleetsOf(environment, host),
  };
  const onError = (cause: unknown): void =>
    host.log.error('request failed', { cause: cause instanceof Error ? cause.stack : String(cause) });
  const messages = { queues: parts.queues(), deadLetters: parts.deadLetters(), backlogs: parts.backlogs() };
  const measured = { readMeter: readMeter(host.clients.dynamodb) };
  // The OpenAPI document is read on demand, so that it does not lengthen cold starts.
  const openApi = () => JSON.parse(readFileSync(join(environment.LAMBDA_TASK_ROOT ?? '', OPENAPI_ASSET), 'utf8'));
  return lazyApi({
    ...parts.base,
    ...stores,
    ...messages,
    ...measured,
    openApi,
    newId: monotonicFactory(),
    onError,
  });
};

type Handler = ReturnType<typeof handle>;
type Event = Parameters<Handler>[0];

export const compose = (environment: Environment, host: Host) => {
  const handler: Handler = handle(composeApp(environment, host));
  return (event: Event) => handler(withSafePath(event));
};

/**
 * A function URL passes the path as it was sent. An HTTP API in front of the function, or an emulator, passes the
 * decoded path. In a decoded path, the `#` of a batch id would be read as the end of the path, so it is encoded here.
 */
const withSafePath = (event: Event): Event =>
  'rawPath' in event ? { ...event, rawPath: event.rawPath.replace(/[#?]/g, encodeURIComponent) } : event;

export const handler = atFirstInvocation(compose);
