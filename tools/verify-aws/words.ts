/** Texts that a run prints. Pure. */
import { count, dollars, span } from '../simulate/figures.ts';
import { PRICES } from '../simulate/prices.ts';
import { predictedCosts, sumOf } from './budget.ts';
import { BURST_RATE, type LoadName, sizesOf } from './loads/plan.ts';
import type { Options } from './options.ts';
import type { FoundRun } from './removal.ts';

/** What a run is going to do. */
export interface Planned {
  readonly id: string;
  readonly account: string;
  readonly region: string;
  readonly options: Options;
  /** Predicted cost of a task, in US dollars. */
  readonly perTask: Readonly<Record<LoadName, number>>;
  /** When the run ends at the latest, in ISO 8601. */
  readonly until: string;
  /** Earlier runs that must have ended, and others. */
  readonly over: readonly FoundRun[];
  readonly others: readonly FoundRun[];
}

export const planText = ({ id, account, region, options, perTask, over, others }: Planned): string => {
  const { burst, sustained } = sizesOf(options);
  const steps = [
    ...over.map((each) => `remove what the earlier run ${each.id} left`),
    `deploy the stage verify-${id}, and a stack with a function as its downstream`,
    ...(options.suite
      ? [
          'run the tests for deployed stacks, on stages of their own. Their calls reach this machine through a function URL with a secret path',
        ]
      : []),
    ...(burst > 0 ? [`send a burst of ${count(burst)} tasks, up to ${count(BURST_RATE)} a second`] : []),
    ...(sustained > 0
      ? [`send ${count(options.rate)} tasks a second for ${span(options.duration)} (about ${count(sustained)} tasks)`]
      : []),
    'remove everything that it created',
  ];
  const costs = predictedCosts(options, perTask);
  return [
    `In account ${account}, region ${region}, this run is going to`,
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
    ...(others.length > 0
      ? [
          `Other runs may be going on, and are left alone: ${others.map((each) => each.id).join(', ')}. To remove them: --remove`,
        ]
      : []),
    `This machine must stay on and connected. If it does not, run \`npm run verify:aws -- --region ${region} --remove\` later.`,
    `If the account is not bootstrapped for CDK, the run bootstraps it. The bootstrap stays, since all CDK apps share it.`,
    `Predicted cost: ${dollars(sumOf(costs))} (${costs.map(([part, cost]) => `${part} ${dollars(cost)}`).join(', ')}), at list prices of ${PRICES.region}, ${PRICES.asOf}, without free tiers.`,
    `Budget: ${dollars(options.budget)}. The run stops sending when it has spent this much.`,
  ].join('\n');
};

/** @param left what remains of a run */
export const leftText = (left: readonly string[], region: string): string =>
  left.length === 0
    ? 'Everything was removed.'
    : [
        'These remain, and may cost money:',
        ...left.map((each) => `  ${each}`),
        `To try again: npm run verify:aws -- --region ${region} --remove`,
      ].join('\n');
