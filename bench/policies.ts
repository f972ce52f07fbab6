/**
 * `npm run bench:policies` prints how full batches get and how long tasks wait: the tables of
 * docs/how-to/choose-a-policy.md.
 */
import { byCap, byPolicy, byRate } from './policies/tables.ts';

console.log([byRate(), byPolicy(), byCap()].join('\n\n'));
