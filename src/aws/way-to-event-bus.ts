/** The way to an event bus. */
import { EventBridgeClient, type EventBridgeClientConfig, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import type { Way } from '../callbacks/deliver.ts';

export const eventBusClient = (options: EventBridgeClientConfig): EventBridgeClient => new EventBridgeClient(options);

/** An event bus did not take an event. */
class NotTaken extends Error {
  override readonly name = 'NotTaken';
}

/** @param name of the bus, or its ARN. */
export const wayToEventBus =
  (name: string, client: EventBridgeClient): Way =>
  async ({ text, source, type, time }) => {
    const entry = { EventBusName: name, Source: source, DetailType: type, Detail: text, Time: new Date(time) };
    const { FailedEntryCount = 0, Entries = [] } = await client.send(new PutEventsCommand({ Entries: [entry] }));
    // It answers 200 all the same.
    if (FailedEntryCount > 0) throw new NotTaken(`${Entries[0]?.ErrorMessage} (${Entries[0]?.ErrorCode})`);
  };
