import { describe, expect, it } from 'vitest';
import { Budget, predictedCosts, sumOf } from '../../tools/verify-aws/budget.ts';
import { configOf, costPerTask } from '../../tools/verify-aws/loads/plan.ts';

const wanted = { burst: 100_000, rate: 50, duration: 3_600_000, targets: 20, budget: 2, suite: false };
const perTask = { burst: 0.00001, sustained: 0.00001 };

describe('the budget of a run', () => {
  it('predicts the cost of all tasks, the stage and the tests', async () => {
    const costs = predictedCosts({ ...wanted, suite: true }, await costPerTask(wanted, configOf('f')));
    expect(costs.map(([part]) => part)).toEqual(['burst', 'sustained', 'the stage', 'tests']);
    expect(sumOf(costs)).toBeGreaterThan(1);
    expect(sumOf(costs)).toBeLessThan(5);
  });

  it('is exceeded by the predicted cost of the tasks that were sent', () => {
    const cost = new Budget(wanted, perTask);
    cost.sent('burst', 100_000);
    expect(cost.exceeded).toBeUndefined();
    cost.sent('sustained', 70_000);
    expect(cost.exceeded).toBe('it has spent $2.00 of its budget of $2.00');
  });

  it('is exceeded by what CloudWatch shows, if that is more', () => {
    const cost = new Budget(wanted, perTask);
    cost.sent('burst', 10);
    cost.measured(1.9);
    expect(cost.exceeded).toBe('it has spent $2.20 of its budget of $2.00');
  });
});
