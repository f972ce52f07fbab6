/** A run in the account: deploys its stacks, sends the loads, observes them, and runs the tests. */
import { setTimeout } from 'node:timers/promises';
import { stackNames } from '../../lib/stage.ts';
import { awsClients } from '../../src/aws/clients.ts';
import { REGISTER_QUEUE_URL } from '../../src/domain/deployed/environment.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { type Account, findStack } from '../account/stacks.ts';
import { makeReady } from '../deploy/bootstrap.ts';
import { cdk } from '../deploy/cdk.ts';
import { CommandFailure } from '../failure.ts';
import { freePort } from '../local/free-port.ts';
import { span } from '../simulate/figures.ts';
import { printable } from '../terminal.ts';
import { Budget } from './budget.ts';
import { ANSWERS_TABLE, CALLS_QUEUE_URL, RELAY_URL, REQUESTS_QUEUE_URL } from './deployed/load-stack.ts';
import { CallLog } from './loads/call-log.ts';
import { clockOffset, receiveCalls } from './loads/calls-queue.ts';
import { configOf, MAX_WAIT } from './loads/plan.ts';
import { runLoads } from './loads/run-loads.ts';
import type { Sent } from './loads/send.ts';
import { type Observed, observe } from './measures/observe.ts';
import { readResources } from './measures/resources.ts';
import { watchSpending } from './measures/spending.ts';
import type { Options } from './options.ts';
import { environmentOf, type Run } from './run-settings.ts';
import { startRelay } from './suite/relay.ts';
import { notRun, runSuite, type SuiteResult } from './suite/run-suite.ts';
import type { Planned } from './words.ts';

/** Where the run differs between AWS and an emulator. */
export interface Surroundings {
  /** Called when the stacks are deployed. */
  readonly onDeployed: () => Promise<void>;
  /** The address at which functions and this machine reach a function URL. */
  readonly addressOf: (functionUrl: string) => string;
  /** Time until CloudWatch has the values of a minute. 0: it reports none. */
  readonly metricsAfter: Millis;
  /** Time until SQS reports the metrics of queues that were not in use before. */
  readonly queuesReportAfter: Millis;
  /** Files of the tests for deployed stacks. Empty: all. */
  readonly testFiles: readonly string[];
}

/** What a run found until it ended. */
export interface Found {
  /** Each load with its tasks. */
  observed: readonly (readonly [Observed, readonly Sent[]])[];
  suite: SuiteResult;
}

interface Running {
  readonly account: Account;
  readonly number: string;
  readonly run: Run;
  readonly options: Options;
  readonly planned: Planned;
  readonly surroundings: Surroundings;
}

/**
 * @param found gets the results, also those before a failure
 * @param signal interrupts the run
 * @throws CommandFailure
 */
export const deployAndRun = async (running: Running, found: Found, signal: AbortSignal): Promise<void> => {
  const { account, number, run, options, surroundings } = running;
  const { api } = options;
  const settings = {
    stage: run.stage,
    config: run.config,
    region: account.region,
    ...(api === undefined ? {} : { api }),
  };
  Object.assign(process.env, environmentOf(run));
  await makeReady(account, number, settings);
  const app = ['--app', 'node tools/verify-aws/deployed/app.ts'];
  const { succeeded } = await cdk(settings, 'deploy', '--all', '--require-approval', 'never', ...app);
  if (!succeeded)
    throw new CommandFailure(signal.aborted ? 'the run was interrupted' : 'the stacks were not deployed, see above');
  const reportedFrom = Date.now() + surroundings.queuesReportAfter;
  await surroundings.onDeployed();
  found.suite = options.suite ? await suiteOf(running, signal) : notRun('--no-suite was given');
  if (reportedFrom > Date.now() && !signal.aborted) {
    console.log(`Waiting ${span(reportedFrom - Date.now())}, until SQS reports the metrics of new queues …`);
    await pause(reportedFrom - Date.now(), signal);
  }
  if (!signal.aborted) await runAndObserve(running, found, signal);
};

/** An interruption ends it early. */
const pause = (duration: Millis, signal: AbortSignal): Promise<void> =>
  setTimeout(duration, undefined, { signal }).catch(() => {});

const runAndObserve = async (running: Running, found: Found, signal: AbortSignal): Promise<void> => {
  const { account, run, options, planned, surroundings } = running;
  const { region } = account;
  const { sqs, dynamodb } = awsClients({ region, patient: true });
  const { data, flow } = stackNames(run.stage);
  const registerQueueUrl = (await outputsOf(account, flow))(REGISTER_QUEUE_URL);
  const callsQueueUrl = (await outputsOf(account, run.loadStack))(CALLS_QUEUE_URL);
  const config = configOf(run.functionName);
  const resources = await readResources(account, { data, flow });
  const log = new CallLog();
  const offset = await clockOffset(sqs, callsQueueUrl, signal);
  const budget = new Budget(options, planned.perTask);
  const calls = receiveCalls(sqs, callsQueueUrl, log, warn('receive calls'));
  const onCost = (cost: number): void => budget.measured(cost);
  const guard = watchSpending({ region, resources, onCost, onFailure: warn('read the cost so far') });
  try {
    const rans = await runLoads({
      sqs,
      registerQueueUrl,
      log,
      config,
      options,
      // CloudWatch has values for minutes, so each load gets whole minutes of its own.
      beforeLoad: async () => {
        if (surroundings.metricsAfter > 0) await pause(MINUTE - (Date.now() % MINUTE), signal);
      },
      stopReason: () => (signal.aborted ? 'the run was interrupted' : budget.exceeded),
      onSent: (load, tasks) => budget.sent(load, tasks),
    });
    if (surroundings.metricsAfter > 0 && !signal.aborted) {
      console.log(`Waiting ${span(surroundings.metricsAfter)}, until CloudWatch has the metrics …`);
      await pause(surroundings.metricsAfter, signal);
    }
    for (const ran of rans) {
      const called = log.called(ran.load, ran.sent, MAX_WAIT, offset);
      const observed = await observe({ account, dynamodb, resources }, ran, called);
      found.observed = [...found.observed, [observed, ran.sent]];
    }
  } finally {
    guard.stop();
    await calls.stop();
  }
};

const suiteOf = async (running: Running, signal: AbortSignal): Promise<SuiteResult> => {
  const { account, number, run, surroundings } = running;
  const { region } = account;
  const port = await freePort();
  const output = await outputsOf(account, run.loadStack);
  const relay = startRelay(
    {
      region,
      port,
      requestsQueueUrl: output(REQUESTS_QUEUE_URL),
      answersTable: output(ANSWERS_TABLE),
    },
    warn('relay a call'),
  );
  try {
    const relayUrl = surroundings.addressOf(output(RELAY_URL));
    const downstreamUrl = `${relayUrl}${run.token}/batch`;
    const files = surroundings.testFiles;
    return await runSuite({ id: run.id, account: number, region, downstreamUrl, downstreamPort: port, files }, signal);
  } finally {
    await relay.stop();
  }
};

const warn =
  (what: string) =>
  (cause: unknown): void =>
    console.error(printable(`could not ${what}: ${reasonOf(cause)}. Trying again`));

/** Reads the outputs of a stack. @throws CommandFailure, also by the returned function, for an output that is missing */
const outputsOf = async (account: Account, stack: string): Promise<(name: string) => string> => {
  const outputs = (await findStack(account, stack))?.outputs ?? {};
  return (name) => {
    const value = outputs[name];
    if (value === undefined) throw new CommandFailure(`the stack ${stack} has no output ${name}`);
    return value;
  };
};
