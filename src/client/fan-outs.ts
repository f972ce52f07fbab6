/**
 * The TypeScript client for fan-outs. A fan-out has N items and reports exactly once that the last one is done.
 *
 * ```ts
 * const fanOuts = createFanOutClient({ api: 'https://….lambda-url.eu-central-1.on.aws/v1' });
 * const fanOut = await fanOuts.openFanOut({ userKey: 'catalog-7', callback: 'ops' });
 * for await (const item of fanOut.add(products.length)) …; // pass it on with a product
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

/**
 * Creates a client for fan-outs. It makes up to seven attempts for each call if the API does not answer, or answers 429
 * or 5xx. Repeated calls have no further effect.
 *
 * @throws TypeError if `api` is not a valid address of the API
 */
export const createFanOutClient = (options: ApiOptions): FanOutClient => fanOutsBy(askingApi(options), newId);
