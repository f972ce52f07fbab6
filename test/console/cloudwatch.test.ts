import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { METRICS, type MetricName } from '../../src/domain/events/metrics.ts';
import { cloudWatchMetrics } from '../../tools/console/server/cloudwatch-metrics.ts';
import { CommandFailure } from '../../tools/failure.ts';
import { type AwsService, awsError, startAwsService } from '../factories/aws-service.ts';

const MINUTE = 60_000;
/** Half a minute into a step. */
const NOW = Date.UTC(2026, 0, 1, 12) + 30_000;
const FROM = Date.UTC(2026, 0, 1, 9) + MINUTE;

interface Query {
  readonly Id: string;
  readonly MetricStat: {
    readonly Metric: {
      readonly Namespace: string;
      readonly MetricName: MetricName;
      readonly Dimensions: readonly { readonly Name: string; readonly Value: string }[];
    };
    readonly Period: number;
    readonly Stat: string;
  };
}

interface Asked {
  readonly MetricDataQueries: readonly Query[];
  readonly StartTime: number;
  readonly EndTime: number;
  readonly NextToken?: string;
}

const dimensionsOf = ({ MetricStat: { Metric } }: Query) =>
  Object.fromEntries(Metric.Dimensions.map(({ Name, Value }) => [Name, Value]));

describe('the metrics of a deployed stack', () => {
  let service: AwsService;
  beforeAll(async () => {
    service = await startAwsService();
  });
  beforeEach(() => {
    service.requests.splice(0);
    answer(() => undefined);
  });
  afterAll(() => service.stop());

  const source = (...operations: string[]) =>
    cloudWatchMetrics({
      service: 'Groupage-dev-Flow',
      region: 'us-east-1',
      operations: () => operations,
      client: service.options,
      now: () => NOW,
    });
  const asked = (): Asked[] => service.requests.map(({ body }) => JSON.parse(body) as Asked);
  const queries = (): Query[] => asked().flatMap(({ MetricDataQueries }) => MetricDataQueries);
  /** Answers each query with values at minutes of the window, as CloudWatch does. */
  const answer = (valuesOf: (query: Query) => Readonly<Record<number, number>> | undefined): void =>
    service.behave(({ body }) => {
      const { MetricDataQueries } = JSON.parse(body) as Asked;
      const MetricDataResults = MetricDataQueries.map((query) => {
        const values = Object.entries(valuesOf(query) ?? {});
        return {
          Id: query.Id,
          Label: query.MetricStat.Metric.MetricName,
          Timestamps: values.map(([minute]) => (FROM + Number(minute) * MINUTE) / 1_000),
          Values: values.map(([, value]) => value),
          StatusCode: 'Complete',
        };
      });
      return { body: { MetricDataResults, Messages: [] } };
    });

  it('are three hours of minutes with the stack as a dimension', async () => {
    await source('ship').look();
    expect(service.requests[0]?.operation).toBe('GraniteServiceVersion20100801.GetMetricData');
    const [{ StartTime, EndTime } = { StartTime: 0, EndTime: 0 }] = asked();
    expect([StartTime * 1_000, EndTime * 1_000]).toEqual([FROM, FROM + 180 * MINUTE]);
    expect(EndTime * 1_000).toBeGreaterThan(NOW);
    for (const query of queries()) {
      const { Metric, Period } = query.MetricStat;
      const { service: stack, ...of } = dimensionsOf(query);
      expect([Metric.Namespace, stack, Period]).toEqual(['Groupage', 'Groupage-dev-Flow', 60]);
      expect([Metric.MetricName, Object.keys(of)]).toEqual([Metric.MetricName, METRICS[Metric.MetricName].by]);
    }
    expect(new Set(queries().map(({ Id }) => Id)).size).toBe(queries().length);
  });

  it('of a day have steps of whole minutes, as many as usual', async () => {
    const { windows } = await source('ship').about();
    expect(windows.map(({ millis, everySeconds }) => [millis / 3_600_000, everySeconds])).toEqual([
      [1, 60],
      [3, 60],
      [24, 480],
    ]);
    const { from, step, steps } = await source('ship').look(24 * 60 * MINUTE);
    expect([step, steps, from % step]).toEqual([8 * MINUTE, 180, 0]);
    const [{ StartTime, EndTime } = { StartTime: 0, EndTime: 0 }] = asked();
    expect([StartTime * 1_000, EndTime * 1_000]).toEqual([from, from + 24 * 60 * MINUTE]);
    expect(EndTime * 1_000).toBeGreaterThan(NOW);
    expect(new Set(queries().map(({ MetricStat }) => MetricStat.Period))).toEqual(new Set([480]));
  });

  it('of a day are read less often than the usual ones', async () => {
    for (const operations of [1, 200, 1_000]) {
      const { everySeconds, windows } = await source(...Array.from({ length: operations }, (_, n) => `o${n}`)).about();
      expect(windows.at(-1)?.everySeconds).toBeGreaterThanOrEqual(4 * everySeconds);
    }
  });

  it('of a count are sums; others have mean and maximum', async () => {
    await source('ship').look();
    const statisticsOf = (name: MetricName) =>
      queries()
        .filter(({ MetricStat }) => MetricStat.Metric.MetricName === name)
        .map(({ MetricStat }) => MetricStat.Stat);
    expect(statisticsOf('Wait')).toEqual(['Sum', 'SampleCount', 'Maximum']);
    expect(statisticsOf('TasksRegistered')).toEqual(['Sum']);
  });

  it('become series and totals, without empty series', async () => {
    answer((query) => {
      const { MetricName: name } = query.MetricStat.Metric;
      const { operation, reason } = dimensionsOf(query);
      if (operation !== 'ship') return undefined;
      if (name === 'TasksRegistered') return { 0: 5, 179: 20 };
      if (name === 'TasksSucceeded') return { 179: 24 };
      if (name === 'TasksFailed') return { 179: 1 };
      if (name === 'DownstreamCalls') return { 179: 3 };
      if (name === 'BatchesSealed')
        return reason === 'full' ? { 179: 2 } : reason === 'waited' ? { 178: 1 } : undefined;
      if (name === 'Wait') return { 178: { Sum: 900, SampleCount: 3, Maximum: 500 }[query.MetricStat.Stat] ?? 0 };
      return undefined;
    });
    const { from, step, series, totals } = await source('idle', 'ship').look();
    expect([from, step]).toEqual([FROM, MINUTE]);
    expect(series.map(({ metric, of }) => [metric, of.reason ?? ''].join(' ').trim()).toSorted()).toEqual([
      'BatchesSealed full',
      'BatchesSealed waited',
      'DownstreamCalls',
      'TasksFailed',
      'TasksRegistered',
      'TasksSucceeded',
      'Wait',
    ]);
    const wait = series.find(({ metric }) => metric === 'Wait');
    expect([wait?.of, wait?.sum.at(-2), wait?.count.at(-2), wait?.max.at(-2), wait?.sum.length]).toEqual([
      { operation: 'ship' },
      900,
      3,
      500,
      180,
    ]);
    expect(totals).toEqual({
      since: FROM,
      operations: [
        {
          operation: 'ship',
          tasksRegistered: 25,
          tasksSucceeded: 24,
          tasksFailed: 1,
          batches: 3,
          calls: 3,
          callsSaved: 22,
        },
      ],
    });
  });

  it('are queried 500 at a time, and read to the last page', async () => {
    service.behave(({ body }) => {
      const { MetricDataQueries, NextToken } = JSON.parse(body) as Asked;
      const [first] = MetricDataQueries;
      const minute = NextToken === undefined ? 0 : 1;
      const result = {
        Id: first?.Id,
        Timestamps: [(FROM + minute * MINUTE) / 1_000],
        Values: [7],
        StatusCode: NextToken === undefined ? 'PartialData' : 'Complete',
      };
      return { body: { MetricDataResults: [result], ...(NextToken === undefined ? { NextToken: 'more' } : {}) } };
    });
    const names = Array.from({ length: 40 }, (_, n) => `o${n}`);
    const { series } = await source(...names).look();
    const requests = asked();
    expect(Math.max(...requests.map(({ MetricDataQueries }) => MetricDataQueries.length))).toBe(500);
    expect(new Set(queries().map(({ Id }) => Id)).size).toBe(queries().length / 2);
    expect(series[0]?.sum.slice(0, 3)).toEqual([7, 7, 0]);
    expect(series).toHaveLength(requests.length / 2);
  });

  it('cost as stated; many operations are read less often', async () => {
    const one = await source('ship').about();
    await source('ship').look();
    expect([one.from, one.everySeconds]).toEqual(['cloudwatch', 60]);
    // CloudWatch bills up to five statistics of one metric as one metric.
    const metrics = Map.groupBy(queries(), ({ MetricStat }) => JSON.stringify(MetricStat.Metric));
    expect(Math.max(...[...metrics.values()].map(({ length }) => length))).toBe(3);
    expect(one.dollarsPerHour).toBeCloseTo((metrics.size * 60 * 0.01) / 1_000, 9);
    const many = await source(...Array.from({ length: 200 }, (_, n) => `o${n}`)).about();
    expect(many.everySeconds).toBeGreaterThan(60);
    expect(many.dollarsPerHour).toBeLessThanOrEqual(0.25);
    const none = await source().about();
    expect(none.dollarsPerHour, 'lists and fan-outs').toBeCloseTo((11 * 60 * 0.01) / 1_000, 9);
  });

  it('are queried again if CloudWatch throttles', async () => {
    let times = 0;
    service.behave(() => {
      times += 1;
      return times === 1
        ? awsError(400, 'ThrottlingException', 'Rate exceeded')
        : { body: { MetricDataResults: [], Messages: [] } };
    });
    expect((await source('ship').look()).series).toEqual([]);
    expect(times).toBe(2);
  });

  it.each([
    ['AccessDeniedException', /permission cloudwatch:GetMetricData: see docs\/reference\/console\.md/],
    ['AccessDenied', /permission cloudwatch:GetMetricData/],
    ['ExpiredTokenException', /credentials have expired/],
    ['UnrecognizedClientException', /does not accept these credentials/],
    ['ThrottlingException', /throttles requests at the moment/],
    ['InternalServiceFault', /^cannot read the metrics of Groupage-dev-Flow/],
  ])('are replaced by an explanation after %s', async (name, words) => {
    service.behave(() => awsError(400, name, 'says AWS'));
    const failure = await source('ship')
      .look()
      .catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(CommandFailure);
    expect((failure as CommandFailure).message).toMatch(words);
    expect((failure as CommandFailure).message).toContain('says AWS');
  });

  it('are not shown as empty if CloudWatch fails', async () => {
    service.behave(() => ({ body: { MetricDataResults: [{ Id: 'q0', StatusCode: 'InternalError' }] } }));
    await expect(source('ship').look()).rejects.toThrow(/did not return all metrics/);
  });
});
