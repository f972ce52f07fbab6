/**
 * `npm run bench:costs` prints the costs of Groupage and of alternatives: the tables of
 * docs/explanation/when-not-to-use-it.md, and the cost of an idle stack in docs/how-to/deploy.md.
 */
import { PRICES } from '../tools/simulate/prices.ts';
import { bySize, byWay, idle } from './costs/tables.ts';

console.log(`List prices of ${PRICES.region}, ${PRICES.asOf}\n\n${idle()}\n\n${bySize()}\n\n${byWay()}`);
