/**
 * `npm run bench:fleet-key` measures the load of a rolling restart of three nodes on one key of DynamoDB, whose limit
 * is 3,000 read and 1,000 write units a second. It compares checkpoints in the rows of leases, as in 0.2.0, with
 * checkpoints in rows of their own. The real decisions and steps run under the virtual clock;
 * test/aws/fleet-cost.test.ts asserts the cost of their calls.
 *
 * `--partitions 1000` and `--bytes 4096` set the number of partitions and the size of their checkpoints.
 */
import { parseArgs } from 'node:util';
import { table } from '../tools/terminal.ts';
import { wholeNumber } from '../verification/harness/whole-number.ts';
import { restart } from './fleet-key/restart.ts';

const { values } = parseArgs({
  options: { partitions: { type: 'string', default: '1000' }, bytes: { type: 'string', default: '4096' } },
});
const [partitions, bytes] = [wholeNumber('partitions', values.partitions, 1), wholeNumber('bytes', values.bytes, 0)];

const rows = [];
let isKept = true;
for (const [name, apart] of [
  ['in leases, as 0.2.0', false],
  ['in rows of their own', true],
] as const) {
  const { look, reads, writes, moved, violations } = await restart(partitions, bytes, apart);
  for (const violation of violations) console.error(violation);
  isKept &&= violations.length === 0;
  const count = (units: number): string => Math.ceil(units).toLocaleString('en');
  rows.push([name, count(look), count(reads.units), count(writes.units), writes.partition, moved]);
}
console.log(
  `three nodes replaced one after the other, ${partitions} partitions, checkpoints of ${bytes} bytes every 6 s`,
);
console.log(
  table(
    ['CHECKPOINTS', 'READ UNITS A LOOK', 'MOST READ UNITS A SECOND', 'MOST WRITE UNITS A SECOND', 'OF', 'MOVED'],
    rows,
  ),
);
if (!isKept) process.exitCode = 1;
