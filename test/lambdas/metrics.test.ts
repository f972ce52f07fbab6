/** Every metric, read from the output of the deployed bundles while they do the counted work. */
import { describe, expect, it } from 'vitest';
import { stackNames } from '../../lib/stage.ts';
import { METRICS, type MetricName, NAMESPACE, STACK_DIMENSION } from '../../src/domain/events/metrics.ts';
import { metricsOfAlarms, metricsOfDashboards, type NamedMetric } from '../infrastructure/rules/dashboard.ts';
import { bundles, useBundles } from './metrics-bundles.ts';
import { of } from './metrics-kit.ts';
import { testMetricsOfRepairs } from './metrics-of-repairs.ts';
import { testMetricsOfTasks } from './metrics-of-tasks.ts';

describe('the metrics', () => {
  useBundles();
  testMetricsOfTasks();
  testMetricsOfRepairs();

  it('are all emitted by these tests', () =>
    expect([...bundles.emitted.keys()].toSorted()).toEqual(Object.keys(METRICS).toSorted()));

  it('are those of the dashboard and the alarms, with the same dimensions', () => {
    const named = [...metricsOfDashboards(bundles.ops), ...metricsOfAlarms(bundles.ops)].filter(
      ({ namespace }) => namespace === NAMESPACE,
    );
    expect(named.length).toBeGreaterThan(100);
    for (const { where, name, dimensions, unit } of named) {
      const emitted = [...(bundles.emitted.get(name) ?? [])].map((each) =>
        each.split(' ').map((pair) => pair.split('=')[0]),
      );
      expect(emitted, `${name} of ${where}`).toContainEqual([STACK_DIMENSION, ...METRICS[name as MetricName].by]);
      expect(Object.keys(dimensions).toSorted(), `${name} of ${where}`).toEqual(emitted[0]?.toSorted());
      expect(unit ?? METRICS[name as MetricName].unit).toBe(METRICS[name as MetricName].unit);
    }
    // Of this stack and of these operations, with the same values.
    const all = new Set([...bundles.emitted].flatMap(([name, sets]) => [...sets].map((each) => `${name} ${each}`)));
    const asEmitted = ({ name, dimensions }: NamedMetric) =>
      `${name} ${of(...METRICS[name as MetricName].by.map((each) => `${each}=${dimensions[each]}`))}`;
    const found = new Set(named.filter((each) => all.has(asEmitted(each))).map(({ name }) => name));
    expect([...new Set(named.map(({ name }) => name))].filter((name) => !found.has(name))).toEqual([]);
    for (const { dimensions } of named) expect(dimensions[STACK_DIMENSION]).toBe(stackNames('local').flow);
  });

  it('never have a Target as dimension', () => {
    for (const sets of bundles.emitted.values())
      for (const dimensions of sets) expect(dimensions).not.toMatch(/depot|ship\//);
  });
});
