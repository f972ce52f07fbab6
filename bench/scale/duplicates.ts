/**
 * SQS delivers every message of every queue several times during ten minutes. This part measures the cost and the
 * effect on tasks.
 */
import type { Millis } from '../../src/domain/ids.ts';
import type { SimulateOptions } from '../../tools/simulate/simulate.ts';
import { dollars, perMillion } from './bill.ts';
import { number, table } from './table.ts';
import { COLD, only, steady, type Tried, tryOut } from './trial.ts';

const [RATE, TARGETS] = [100, 20];
/** The longest time between the first and the last copy of a message, in milliseconds. */
const WITHIN: Millis = 30_000;

/** @param deliveries the number of deliveries of each message */
const times =
  (deliveries: number): NonNullable<SimulateOptions['habits']> =>
  (_, chaos) => {
    const random = chaos.chanceOf('duplicates');
    const copies = new Map<string, number>();
    return {
      again: (id) => {
        const had = copies.get(id) ?? 0;
        if (had >= deliveries - 1) {
          copies.delete(id);
          return undefined;
        }
        copies.set(id, had + 1);
        return random.int(0, WITHIN / (deliveries - 1));
      },
    };
  };

export const tryDuplicates = (deliveries: number, seconds = 600): Promise<Tried> =>
  tryOut({
    operations: { ship: { batch: { maxWait: '10s' } } },
    surroundings: COLD,
    habits: times(deliveries),
    arrivals: steady({ rate: RATE, seconds }, (n) => n % TARGETS),
  });

export const tellDuplicates = async (): Promise<string> => {
  const rows: string[][] = [];
  for (const deliveries of [1, 2, 10]) {
    const tried = await tryDuplicates(deliveries);
    const { waits } = only(tried);
    const { usage, tasks } = tried;
    rows.push([
      deliveries === 1 ? 'once' : `${deliveries} times`,
      number(tried.twice),
      (usage.writeUnits / tasks).toFixed(2),
      number(waits.p99 / 1_000),
      dollars(perMillion(tried)),
    ]);
  }
  return table(
    ['each message arrives', 'in two calls', 'write units per task', 'p99 wait, s', 'price of a million tasks'],
    rows,
  );
};
