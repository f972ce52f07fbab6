/**
 * `npm run bench:fleet-key`: what a rolling restart of three nodes asks of one key of DynamoDB, which bears 3,000 read and 1,000
 * write units a second: with checkpoints in the rows of leases, as 0.2.0 has them, and in rows of their own. The real decisions and
 * steps run under the virtual clock; what their calls cost is asserted by test/aws/fleet-cost.test.ts.
 *
 * `--partitions 1000` and `--bytes 4096` say how many partitions there are, and how large their checkpoints.
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
