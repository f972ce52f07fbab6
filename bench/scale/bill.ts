/** The cost of a trial at list prices. */

import { billOf } from '../../tools/simulate/cost.ts';
import { AWS } from '../../tools/simulate/platform.ts';
import type { Tried } from './trial.ts';

const MILLION = 1_000_000;

/**
 * The price in US dollars per million tasks, including the time that functions wait for calls, without the cost of an
 * idle stack.
 */
export const perMillion = ({ usage, tasks }: Pick<Tried, 'usage' | 'tasks'>): number =>
  (billOf(usage, AWS).total * MILLION) / tasks;

export const dollars = (amount: number): string =>
  `$${amount < 100 ? amount.toFixed(2) : Math.round(amount).toLocaleString('en')}`;
