/** `npm run verify:aws` at a small scale, in this run's emulator. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { CloudFormationClient, CreateStackCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { findStack, openAccount } from '../../tools/account/stacks.ts';
import { UNTIL_TAG } from '../../tools/verify-aws/deployed/load-stack.ts';
import { minutesAround } from '../../tools/verify-aws/loads/span.ts';
import { readMetrics } from '../../tools/verify-aws/measures/cloudwatch.ts';
import { run } from '../../tools/verify-aws/program.ts';
import { removeRun } from '../../tools/verify-aws/removal.ts';
import type { Surroundings } from '../../tools/verify-aws/running.ts';
import { deployedStack } from '../backends/backend.ts';
import { clientsOf, enter } from '../backends/cloud.ts';
import { fitToEmulator } from '../backends/emulator-fit.ts';
import { expectNothingLeft } from './nothing-left.ts';

const { cloud } = deployedStack();

// In an account, the command itself runs these tests.
describe.skipIf(cloud.name !== 'ministack')('verify:aws', () => {
  const folder = mkdtempSync(join(process.env.TMPDIR ?? '', 'verify-'));
  const lines: string[] = [];
  beforeAll(() => enter(cloud));

  const inEmulator: Surroundings = {
    onDeployed: () => fitToEmulator(cloud),
    addressOf: (url) => {
      const { host, pathname } = new URL(url);
      return `${cloud.endpoint}/_aws/lambda-url/${host.split('.')[0]}${pathname}`;
    },
    metricsAfter: 0,
    queuesReportAfter: 0,
    testFiles: ['test/end-to-end/windows.test.ts'],
  };
  const verify = async (...args: string[]): Promise<{ readonly status: number; readonly page: string }> => {
    const file = join(folder, `${lines.length}.html`);
    const log = vi.spyOn(console, 'log').mockImplementation((line) => lines.push(String(line)));
    try {
      const status = await run(
        ['--region', cloud.region, '--yes', '--targets', '2', '--page', file, ...args],
        inEmulator,
      );
      return { status, page: readFileSync(file, 'utf8') };
    } finally {
      log.mockRestore();
    }
  };
  const rowOf = (page: string, what: string): string =>
    new RegExp(`<tr><th scope="row">${what}.*</tr>`).exec(page)?.[0] ?? '';

  it('sends a load, runs tests, shows what the emulator reports, and leaves nothing', async () => {
    const { page } = await verify('--burst', '300', '--rate', '0/s');
    expect(rowOf(page, 'No task is lost')).toContain('<td>300 of 300 in a call, 300 succeeded</td>');
    expect(rowOf(page, 'No task is lost')).toContain('<td class="good">yes</td>');
    expect(rowOf(page, 'No task is in two batches')).toContain('<td>none</td>');
    expect(rowOf(page, 'Early guards')).toMatch(/<td>\d+<\/td>/);
    for (const what of ['Write units', 'Messages sent', 'Cold starts', 'Call of the downstream', 'Cost'])
      expect(rowOf(page, what)).toContain('<td>not reported</td>');
    expect(page).toMatch(/<p>[1-9]\d* tests passed, 0 failed\.<\/p>/);
    expect(page).toContain('Everything that the run created was removed.');
    await expectNothingLeft(cloud, 'Groupage-verify-');
  });

  it('is ended by Ctrl-C, and removes everything all the same', async () => {
    const interrupt = setInterval(() => {
      if (lines.some((line) => line.startsWith('Sending about 6,000 tasks'))) {
        clearInterval(interrupt);
        void setTimeout(3_000).then(() => process.emit('SIGINT'));
      }
    }, 100);
    const { status, page } = await verify('--no-suite', '--burst', '0', '--rate', '10/s', '--duration', '10m');
    expect(status).toBe(1);
    expect(page).toContain('The load ended early: the run was interrupted.');
    const [, called, sent] = /<td>([\d,]+) of ([\d,]+) in a call/.exec(page) ?? [];
    expect(called).toBe(sent);
    await expectNothingLeft(cloud, 'Groupage-verify-');
  });

  it.each([
    ['the prediction exceeds the budget', ['--budget', '1', '--burst', '800000'], /predicted to cost \$\d/],
    ['the page cannot be written', ['--page', join(folder, 'missing', 'page.html')], /the page cannot be written/],
  ])('creates nothing if %s', async (_, args, problem) => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const status = await run(['--region', cloud.region, '--yes', ...args], inEmulator);
    const [[said] = []] = errors.mock.calls;
    log.mockRestore();
    errors.mockRestore();
    expect([status, said]).toEqual([1, expect.stringMatching(problem)]);
    expect(said).toContain('Nothing was created');
    await expectNothingLeft(cloud, 'Groupage-verify-');
  });

  it('removes with --remove what a killed run left, and nothing else', async () => {
    const { dynamodb, sqs } = clientsOf(cloud);
    const TemplateBody = (QueueName: string) =>
      JSON.stringify({ Resources: { Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName } } } });
    for (const name of ['Groupage-verify-abc123-Load', 'Groupage-suite-test-abc123-Flow', 'Groupage-mine-Flow'])
      await new CloudFormationClient().send(
        new CreateStackCommand({
          StackName: name,
          TemplateBody: TemplateBody(`${name}-queue`),
          Tags: name.endsWith('-Load') ? [{ Key: UNTIL_TAG, Value: '2026-01-01T00:00:00.000Z' }] : [],
        }),
      );
    await dynamodb.send(
      new CreateTableCommand({
        TableName: 'Groupage-suite-test-abc123-Flow-5f-task',
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'Id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'Id', AttributeType: 'S' }],
      }),
    );
    await eventuallyComplete('Groupage-mine-Flow');
    // The stack that is removed last stays, so that --remove finds this run again.
    expect(await removeRun(await openAccount(process.env), 'abc123', AbortSignal.abort())).toEqual([
      expect.stringMatching(/^the stack Groupage-suite-test-abc123-Flow: the removal was interrupted/),
      'the stack Groupage-verify-abc123-Load: it is removed last',
    ]);
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    expect(await run(['--region', cloud.region, '--remove', '--yes'], inEmulator)).toBe(0);
    log.mockRestore();
    await expectNothingLeft(cloud, 'Groupage-verify-');
    await expectNothingLeft(cloud, 'Groupage-suite-test-abc');
    await sqs.send(new GetQueueUrlCommand({ QueueName: 'Groupage-mine-Flow-queue' }));
  });

  it('reads the values of minutes from CloudWatch, and none where there are none', async () => {
    const now = Date.now();
    const dimensions = { service: 'verify-aws-test' };
    await new CloudWatchClient().send(
      new PutMetricDataCommand({
        Namespace: 'Groupage',
        MetricData: [3, 4].map((Value) => ({
          MetricName: 'Repairs',
          Dimensions: [{ Name: 'service', Value: dimensions.service }],
          Timestamp: new Date(now),
          Value,
        })),
      }),
    );
    const query = { key: 'repairs', namespace: 'Groupage', metric: 'Repairs', dimensions, statistic: 'Sum' } as const;
    const values = await readMetrics(cloud.region, [query, { ...query, metric: 'Other' }], minutesAround(now, now));
    expect(values).toEqual([[7], []]);
  });
});

const eventuallyComplete = async (name: string): Promise<void> => {
  const account = await openAccount(process.env);
  while (!(await findStack(account, name))?.status.endsWith('_COMPLETE')) await setTimeout(200);
};
