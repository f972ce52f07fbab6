/** What a producer's client does, however its messages are carried. */
import type { Sending } from '../domain/register/sending.ts';
import { NotAllSent } from './not-all-sent.ts';
import { type Client, messageOf, type NamedTask, named, type Operations, type RegisterMessage } from './sent-tasks.ts';

/** Sends messages; answers what became of them. Must not reject. */
export type Carry = (messages: readonly RegisterMessage[]) => Promise<Sending>;

/**
 * A client whose messages `carry` sends.
 *
 * @param newId names the tasks that have no id @param atOnce how many tasks are held in memory, and reported, at once
 */
export const clientBy = <Known extends Operations>(
  carry: Carry,
  newId: () => string,
  atOnce: number,
): Client<Known> => {
  const sendAll: Client<Known>['sendAll'] = async (tasks, { onProgress } = {}) => {
    const sent: string[] = [];
    let slice: NamedTask<Known>[] = [];
    let outcomes: Sending['outcomes'] = [];
    const flush = async (): Promise<void> => {
      const carried = await carry(slice.map((task, index) => messageOf(task, sent.length + index)));
      outcomes = carried.outcomes;
      if (carried.failure) throw carried.failure.cause;
      for (const { id } of slice) sent.push(id);
      [slice, outcomes] = [[], []];
      onProgress?.(sent.length);
    };
    try {
      for await (const task of tasks) {
        slice.push(named(task, newId));
        if (slice.length === atOnce) await flush();
      }
      if (slice.length > 0) await flush();
      return sent;
    } catch (cause) {
      const is = (what: Sending['outcomes'][number]['is']) =>
        slice.filter((_, index) => (outcomes[index]?.is ?? 'unsent') === what);
      const failed = is('failed').map(({ id }) => id);
      sent.push(...is('sent').map(({ id }) => id));
      // Nothing was sent, and nothing can have been. A list can be sent again as it was given; what else was read may be gone.
      const isAsGiven = Array.isArray(tasks) || slice.length === 0;
      if (isAsGiven && sent.length === 0 && failed.length === 0) throw cause;
      const left = slice.filter((_, index) => outcomes[index]?.is !== 'sent');
      throw new NotAllSent({ sent, failed, unsent: is('unsent').map(({ id }) => id), left }, cause);
    }
  };
  return { send: async (task) => (await sendAll([task]))[0] as string, sendAll };
};
