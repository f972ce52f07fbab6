/** Sends events to an EventBridge event bus. */
import { EventBridgeClient, type EventBridgeClientConfig, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { TRIES, timed } from '../aws/call-time.ts';
import { NotTaken, TooLarge, type Way } from '../ports/callbacks.ts';
import { reasonOf } from '../util/problems.ts';

export const eventBusClient = (options: EventBridgeClientConfig): EventBridgeClient =>
  timed(new EventBridgeClient({ ...TRIES, ...options }));

/** @param name name or ARN of the bus */
export const wayToEventBus =
  (name: string, client: EventBridgeClient): Way =>
  async ({ text, source, type, time }) => {
    const entry = { EventBusName: name, Source: source, DetailType: type, Detail: text, Time: new Date(time) };
    const { FailedEntryCount = 0, Entries = [] } = await sent(client.send(new PutEventsCommand({ Entries: [entry] })));
    // EventBridge answers 200 even if it refused the entry.
    if (FailedEntryCount > 0) throw new NotTaken(`${Entries[0]?.ErrorMessage} (${Entries[0]?.ErrorCode})`, false);
  };

/** EventBridge reports a request that is too large only in the text of its error. */
const sent = async <T>(request: Promise<T>): Promise<T> => {
  try {
    return await request;
  } catch (cause) {
    const isTooLarge = cause instanceof Error && /size of the entries .* (over|exceed)/i.test(cause.message);
    throw isTooLarge ? new TooLarge(reasonOf(cause), { cause }) : cause;
  }
};
