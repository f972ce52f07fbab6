/** Loads that stop, and what the page says about them. */
import { setTimeout } from 'node:timers/promises';
import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { CallLog } from '../../tools/verify-aws/loads/call-log.ts';
import { configOf, predict } from '../../tools/verify-aws/loads/plan.ts';
import { type Ran, runLoads } from '../../tools/verify-aws/loads/run-loads.ts';
import { figuresOf } from '../../tools/verify-aws/measures/figures.ts';
import { type Options, optionsOf } from '../../tools/verify-aws/options.ts';
import { type Compared, compare } from '../../tools/verify-aws/report/compare.ts';
import { isGood, pageOf, type Report } from '../../tools/verify-aws/report/page.ts';

const config = configOf('f');
const REASON = 'the run was interrupted';

/** Starts both loads, and stops the run when the first tasks are in a call. All tasks of a load are in one batch. */
const run = async (stopped = false) => {
  const log = new CallLog();
  let isStopped = stopped;
  const send = async ({ input: { Entries = [] } }: SendMessageBatchCommand) => {
    const tasks = Entries.map(({ MessageBody = '' }) => JSON.parse(MessageBody) as { id: string; operation: string });
    const [operation = ''] = tasks.map((task) => task.operation);
    void setTimeout(500).then(() => {
      isStopped = true;
      log.record({ batchId: operation, operation, attempt: 1, at: Date.now(), ids: tasks.map(({ id }) => id) });
    });
    return {};
  };
  const rans = await runLoads({
    sqs: { send } as unknown as SQSClient,
    registerQueueUrl: 'register',
    log,
    config,
    options: optionsOf(['--burst', '20', '--rate', '20/s', '--duration', '500ms']) as Options,
    beforeLoad: async () => {},
    stopReason: () => (isStopped ? REASON : undefined),
    onSent: () => {},
  });
  return { rans, log };
};

const compared = async ({ load, sent, cutShort }: Ran, log: CallLog): Promise<Compared> =>
  compare(
    {
      load,
      sent: sent.length,
      cutShort,
      sentOver: 0,
      // A full batch.
      called: {
        ...log.called(load, sent, 5_000, 0),
        sizes: { count: 1, mean: 100, p50: 100, p95: 100, p99: 100, max: 100 },
      },
      states: { succeeded: sent.length },
      figures: figuresOf([], []),
      unread: [],
      coldStarts: undefined,
      earlyGuards: undefined,
    },
    await predict(config, sent),
  );

const reportOf = async ({ rans, log }: Awaited<ReturnType<typeof run>>): Promise<Report> => ({
  account: '123456789012',
  region: 'eu-central-1',
  stage: 'verify-1',
  from: '2026-11-27T01:00:00.000Z',
  until: '2026-11-27T03:00:00.000Z',
  loads: await Promise.all(rans.map((ran) => compared(ran, log))),
  suite: { outcome: 'passed', summary: '', failures: [] },
  left: [],
});

it('a run that stops between its loads is not good, and the page says so', async () => {
  const ended = await run();
  expect(ended.rans.map(({ load, sent, cutShort }) => [load, sent.length, cutShort])).toEqual([
    ['burst', 20, undefined],
    ['sustained', 0, REASON],
  ]);
  const report = await reportOf(ended);
  expect(report.loads[0]?.promises.filter(({ held }) => !held)).toEqual([]);
  expect(isGood(report)).toBe(false);
  expect(pageOf(report)).toContain(`The load ended early: ${REASON}.`);
  expect(pageOf(report)).not.toContain('Every promise held.');
});

it('a run that stops before its first task has a page, which does not say that promises held', async () => {
  const report = await reportOf(await run(true));
  expect(isGood(report)).toBe(false);
  expect(pageOf(report)).toContain('The loads were not run, see below.');
});
