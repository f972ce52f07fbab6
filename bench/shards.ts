/**
 * `npm run bench:shards`: what one hot Target takes by its shards, in simulation, with what DynamoDB's partition keys bear.
 * `-- --shards 1,2,4 --seconds 20`; `-- --write` puts the table into docs/evidence/scale.md.
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

const [first] = tried;
const alone = first ? first.taken / first.shards : 0;
const text = table(
  [
    '`shards`',
    'tasks a second that came',
    'that came downstream',
    'to as many times one',
    'write units a second, hottest key',
    'tries throttled',
  ],
  tried.map(({ shards, offered, taken, hottest, throttled }) => [
    String(shards),
    number(offered),
    number(taken),
    (taken / (shards * alone)).toFixed(2),
    number(hottest),
    number(throttled),
  ]),
);
console.log(text);
if (values.write) writeBetween('shards', text);
