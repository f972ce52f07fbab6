/**
 * Fan-outs from TypeScript: N items, of which it is known exactly once that the last is done.
 *
 * ```ts
 * const fanOuts = createFanOutClient({ api: 'https://….lambda-url.eu-central-1.on.aws/v1' });
 * const fanOut = await fanOuts.openFanOut({ userKey: 'catalog-7', callback: 'ops' });
 * for await (const item of fanOut.add(products.length)) …; // hand it out with a product
 * await fanOut.seal();
 * // where the work is done:
 * const { fanOuts: done } = await fanOuts.ack([item]);
 * ```
 */
import { monotonicFactory } from 'ulid';
import { type ApiOptions, askingApi } from './ask-api.ts';
import { type FanOutClient, fanOutsBy } from './fan-out-client.ts';

export type { FailFast, ItemOutcome } from '../domain/fan-outs/fan-out.ts';
export { type ApiOptions, ApiRefused, ApiUnavailable } from './ask-api.ts';
export { type Acked, type DoneItem, MalformedItem, NotAllAcked } from './fan-out-calls.ts';
export type { AckOptions, AddOptions, FanOutClient, FanOutToOpen, OpenFanOut } from './fan-out-client.ts';

const newId = monotonicFactory();

/** Each call is tried seven times where no answer comes, or 429 or 5xx: it does nothing twice. @throws TypeError where `api` is no address for it. */
export const createFanOutClient = (options: ApiOptions): FanOutClient => fanOutsBy(askingApi(options), newId);
