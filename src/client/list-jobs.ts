/** Jobs as they are sent: checked before anything of their call goes out. */

import { PAYLOAD_MAX_BYTES } from '../domain/tasks/task.ts';
import { isObject } from '../util/json-text.ts';

/** A job that would be refused: nothing of its call was sent. */
export class UnsendableJob extends Error {
  override readonly name = 'UnsendableJob';
  /** Its position among the jobs given. */
  readonly index: number;
  constructor(index: number, reason: string) {
    super(`job ${index}: ${reason}`);
    this.index = index;
  }
}

/** The payloads as JSON texts. @throws UnsendableJob */
export async function* jobTexts(payloads: Iterable<object> | AsyncIterable<object>) {
  let index = 0;
  for await (const payload of payloads) {
    if (!isObject(payload)) throw new UnsendableJob(index, 'its payload must be an object');
    const text = JSON.stringify(payload);
    const bytes = Buffer.byteLength(text);
    if (bytes > PAYLOAD_MAX_BYTES)
      throw new UnsendableJob(index, `its payload has ${bytes} bytes, at most ${PAYLOAD_MAX_BYTES} are taken`);
    yield { text };
    index += 1;
  }
}
