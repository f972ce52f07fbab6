/**
 * `npm run bench:shards` simulates one hot Target with several numbers of shards, with DynamoDB's limits per partition
 * key, and prints the throughput of each. `-- --shards 1,2,4 --seconds 20` sets the numbers; `-- --write` puts the
 * table into docs/evidence/scale.md.
 */
import { parseArgs } from 'node:util';
import { type ShardsTried, tryShards } from './scale/shards.ts';
import { number, table, writeBetween } from './scale/table.ts';

const { values } = parseArgs({
  options: {
    shards: { type: 'string', default: '1,2,4,8,16' },
    seconds: { type: 'string', default: '20' },
    write: { type: 'boolean', default: false },
  },
});

const tried: ShardsTried[] = [];
for (const shards of values.shards.split(',').map(Number)) tried.push(await tryShards(shards, Number(values.seconds)));

const text = table(
  ['`shards`', 'tasks sent per second', 'tasks called per second', 'throttled requests'],
  tried.map(({ shards, offered, taken, throttled }) => [
    String(shards),
    number(offered),
    number(taken),
    number(throttled),
  ]),
);
console.log(text);
if (values.write) writeBetween('shards', text);
