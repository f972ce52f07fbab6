/** Receives live events over real HTTP, as a page does. */
import type { LiveEvents } from '../../tools/console/server/shapes.ts';

/** A received event. */
type Heard = {
  [Name in keyof LiveEvents]: { readonly name: Name; readonly data: LiveEvents[Name] };
}[keyof LiveEvents];

export interface Listening {
  /** All events so far. */
  readonly heard: Heard[];
  /** The latest event with this name. */
  last<Name extends keyof LiveEvents>(
    name: Name,
    is?: (data: LiveEvents[Name]) => boolean,
  ): LiveEvents[Name] | undefined;
  /** Closes the connection, as a page does when it is closed. */
  close(): Promise<void>;
}

/** @param site the console's address, with a slash at the end. @param paths the calls of the API to request. */
export const listen = async (site: string, paths: readonly string[]): Promise<Listening> => {
  const heard: Heard[] = [];
  const ending = new AbortController();
  const query = paths.map((path) => `get=${encodeURIComponent(path)}`).join('&');
  const response = await fetch(`${site}console/live?${query}`, { signal: ending.signal });
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  const reading = read(response.body, heard).catch((cause: unknown) => {
    if (!ending.signal.aborted) throw cause;
  });
  // A failure of the stream is thrown by `close`. Until then, a test that waits for an event in vain fails by its
  // timeout.
  reading.catch(() => {});
  return {
    heard,
    last: (name, is = () => true) =>
      heard.findLast((each) => each.name === name && is(each.data as never))?.data as never,
    close: async () => {
      ending.abort();
      await reading;
    },
  };
};

const read = async (body: ReadableStream<Uint8Array>, heard: Heard[]): Promise<void> => {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const messages = (rest + text).split('\n\n');
    rest = messages.pop() ?? '';
    for (const message of messages) {
      const [, name] = /^event: (.*)$/m.exec(message) ?? [];
      const [, data] = /^data: (.*)$/m.exec(message) ?? [];
      if (name !== undefined && data !== undefined) heard.push({ name, data: JSON.parse(data) } as Heard);
    }
  }
};
