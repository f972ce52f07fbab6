/**
 * `npm run bench:shared-rows -- --tasks 10000 --targets 20` measures the cost of tasks that share rows, which Groupage
 * does not use (docs/decisions/0018). It is a prototype on the local engine: no failures, no leader, no duplicates.
 */
import { parseArgs } from 'node:util';
import { wholeNumber } from '../verification/harness/whole-number.ts';
import { startTables } from './shared-rows/tables.ts';
import { type Delivery, type Load, WAYS } from './shared-rows/variants.ts';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '10000' },
    targets: { type: 'string', default: '20' },
    payload: { type: 'string', default: '500' },
    size: { type: 'string', default: '100' },
  },
});
const load: Load = {
  tasks: wholeNumber('tasks', values.tasks, 1),
  targets: wholeNumber('targets', values.targets, 1),
  payload: wholeNumber('payload', values.payload, 1),
  size: wholeNumber('size', values.size, 1),
};
/** The number of messages in an invocation of the register function. */
const DELIVERIES = [10, 100, 500];

/** Deliveries of `at` messages each. The tasks alternate between the Targets. */
const deliveriesOf = (at: number): Delivery[] =>
  Array.from({ length: Math.ceil(load.tasks / at) }, (_, n) =>
    Array.from({ length: Math.min(at, load.tasks - n * at) }, (__, each) => n * at + each).map((task) => ({
      id: `01JD2Y0FQZ4XB8R5MT${String(task).padStart(8, '0')}`,
      target: `ship/depot=D${task % load.targets}`,
      payload: JSON.stringify({ depot: `D${task % load.targets}`, text: '' }).replace(
        '""',
        `"${'x'.repeat(Math.max(0, load.payload - 28))}"`,
      ),
    })),
  );

const rows: string[][] = [];
for (const [name, run] of Object.entries(WAYS))
  for (const at of DELIVERIES) {
    const tables = await startTables();
    try {
      const { batches, phases } = await run(tables, load, deliveriesOf(at));
      const per = (units: number): string => (units / load.tasks).toFixed(2);
      const written = phases.map(({ write }) => write);
      const all = written.reduce((sum, each) => sum + each, 0);
      const read = phases.reduce((sum, each) => sum + each.read, 0);
      const fill = load.tasks / load.size / batches;
      rows.push([name, String(at), ...written.map(per), per(all), per(read), fill.toFixed(2)]);
    } finally {
      await tables.stop();
    }
  }
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
console.log(`${load.tasks} tasks of ${load.payload} bytes for ${load.targets} Targets, batches of ${load.size}\n`);
console.log(
  line([
    'way',
    'messages at once',
    'to register',
    'to claim',
    'to end',
    'to delete',
    'write units',
    'read units',
    'fill',
  ]),
);
console.log(line(['---', ...Array(8).fill('--:')]));
for (const row of rows) console.log(line(row));
