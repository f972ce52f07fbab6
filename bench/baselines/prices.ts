/**
 * What DynamoDB charges for each call of a port, as src/aws makes it. Rows are within a unit, as they are in the
 * schedules; payloads are taken to be in the task's row, since what the simulation calls large is not.
 */
import type { Batches, Locks, Tasks, WaitingTasks } from '../../src/ports.ts';

export interface Units {
  write: number;
  read: number;
}

type Calls<Port> = { readonly [Call in keyof Port]: (...args: never[]) => Promise<unknown> };

/** The price of each call, whose answer is not known if it failed: then all of it may have happened. */
type Prices<Port extends Calls<Port>> = {
  readonly [Call in keyof Port]?: (
    args: Parameters<Port[Call]>,
    answer: Awaited<ReturnType<Port[Call]>> | undefined,
  ) => Partial<Units>;
};

const A_WRITE = (): Partial<Units> => ({ write: 1 });
const A_READ = (): Partial<Units> => ({ read: 1 });

const tasks: Prices<Tasks> = {
  // What is refused is read.
  insert: ([all], answers = []) => ({ write: all.length, read: answers.filter(({ isNew }) => !isNew).length }),
  claim: ([all], answers = []) => ({ write: all.length, read: answers.filter((isMine) => !isMine).length }),
  members: ([ids]) => ({ read: ids.length }),
  // Failed tasks get an entry in the index of failed tasks.
  finish: ([results], answers = []) => ({
    write: results.length + results.filter(({ outcome }) => outcome.status === 'failed').length,
    read: answers.filter((status) => status === undefined).length,
  }),
};
const WAITING_ROW_BYTES = 150;
const waiting: Prices<WaitingTasks> = {
  put: ([rows]) => ({ write: rows.length }),
  remove: ([, entries]) => ({ write: entries.length }),
  first: (_, rows = []) => ({ read: Math.max(1, Math.ceil((rows.length * WAITING_ROW_BYTES) / 4_096)) }),
  count: () => ({ read: 0.5 }),
};
const locks: Prices<Locks> = {
  read: A_READ,
  readAll: ([targets]) => ({ read: targets.length }),
  // A new Target gets its row with an entry in the index of Targets.
  enlist: ([targets]) => ({ write: 2 * targets.length }),
  acquire: A_WRITE,
  release: A_WRITE,
  handOver: A_WRITE,
  openBatch: A_WRITE,
  closeBatch: A_WRITE,
  burn: A_WRITE,
};
const batches: Prices<Batches> = {
  get: A_READ,
  form: A_WRITE,
  // The entry in the index of batches by Target comes with `SealedAt`.
  seal: () => ({ write: 2 }),
  start: A_WRITE,
  postpone: A_WRITE,
  finish: A_WRITE,
};

export const PRICES = { tasks, waiting, locks, batches };

/** The port, with every priced call added to `units`; but for those that a function dies in, which never answer. */
export const charged = <Port extends Calls<Port>>(port: Port, prices: Prices<Port>, units: Units): Port => {
  const metered = { ...port };
  for (const name of Object.keys(prices) as (keyof Port)[]) {
    const pay = (args: Parameters<Port[typeof name]>, answer?: Awaited<ReturnType<Port[typeof name]>>): void => {
      const { write = 0, read = 0 } = prices[name]?.(args, answer) ?? {};
      units.write += write;
      units.read += read;
    };
    const call = async (...args: Parameters<Port[typeof name]>) => {
      try {
        const answer = (await port[name](...args)) as Awaited<ReturnType<Port[typeof name]>>;
        pay(args, answer);
        return answer;
      } catch (cause) {
        pay(args);
        throw cause;
      }
    };
    metered[name] = call as Port[typeof name];
  }
  return metered;
};
