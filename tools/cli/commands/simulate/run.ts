/** Runs `groupage simulate`: simulates the tasks, compares policies if requested, and prints the results. */

import { writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { reasonOf } from '../../../../src/util/problems.ts';
import { CommandFailure, WrongUsage } from '../../../failure.ts';
import type { Aim } from '../../../simulate/aims.ts';
import { costOf } from '../../../simulate/cost.ts';
import { type Figures, figuresOf, NothingToCompare } from '../../../simulate/figures.ts';
import { simulateJob } from '../../../simulate/job.ts';
import type { Outcome } from '../../../simulate/outcome.ts';
import { pageOf } from '../../../simulate/page.ts';
import { timelinePicture } from '../../../simulate/picture-timeline.ts';
import { tradeOffPicture } from '../../../simulate/picture-trade-off.ts';
import { PRICES } from '../../../simulate/prices.ts';
import { type Recommended, recommend } from '../../../simulate/recommend.ts';
import { CannotSimulate } from '../../../simulate/simulate.ts';
import { InvalidTrace } from '../../../simulate/trace.ts';
import { type Axes, policiesOf, type Varied, vary } from '../../../simulate/vary.ts';
import { plural, printJson } from '../../../terminal.ts';
import { progressBar } from '../../shared/progress.ts';
import { type Asked, askedOf, type SimulateOptions } from './options.ts';
import { describeOutcome, describeRecommended, describeVaried } from './report.ts';

/** @throws CommandFailure, WrongUsage */
export const runSimulate = async (options: SimulateOptions): Promise<void> => {
  try {
    await run(await askedOf(options), options);
  } catch (cause) {
    if (cause instanceof InvalidTrace || cause instanceof NothingToCompare || cause instanceof CannotSimulate)
      throw new CommandFailure(cause.message);
    throw cause;
  }
};

/** Results of the simulations. */
interface Found {
  readonly outcome: Outcome;
  readonly varied?: Varied;
  readonly recommended?: Recommended;
}

const run = async (asked: Asked, options: SimulateOptions): Promise<void> => {
  const outcome = await simulated(asked);
  const varied = asked.axes && (await variedOver(asked, asked.axes));
  const recommended = asked.aims && (await recommendedFor(asked, asked.aims, outcome));
  const found = { outcome, ...(varied && { varied }), ...(recommended && { recommended }) };
  const text = asText(asked, found);
  if (options.out !== undefined) {
    const { surroundings } = asked.setting;
    const current = varied && figuresOf(outcome, subjectOf(asked).operation.operation, surroundings);
    writeOut(options.out, { outcome, compared: varied && current && { varied, current }, text });
  }
  console.log(options.json ? printJson(JSON.stringify(asJson(asked, found))) : text);
  if (recommended && !recommended.proposed) process.exitCode ||= 1;
};

const asText = ({ setting, subject, aims = [] }: Asked, { outcome, varied, recommended }: Found): string =>
  [
    describeOutcome(outcome, setting.surroundings),
    ...(varied ? [describeVaried(varied)] : []),
    ...(recommended && subject ? [describeRecommended(recommended, subject.operation, aims, outcome.limits)] : []),
  ].join('\n\n');

const asJson = ({ setting: { surroundings, downstream, seed } }: Asked, found: Found): object => ({
  ...found,
  cost: costOf(found.outcome, surroundings),
  assumed: { surroundings, downstream, seed, prices: PRICES },
});

const simulated = async ({ setting, config, expected }: Asked): Promise<Outcome> => {
  const bar = progressBar(expected ?? 1);
  bar?.start('Simulating');
  let before = 0;
  const outcome = await simulateJob({ ...setting, config }, (sent) => {
    bar?.advance(expected === undefined ? 0 : sent - before, `${plural(sent, 'task')} sent`);
    before = sent;
  });
  bar?.stop('Simulated');
  return outcome;
};

const subjectOf = ({ subject }: Asked): NonNullable<Asked['subject']> => {
  if (subject) return subject;
  throw new WrongUsage(
    'several operations are configured. With --operation, name the operation whose policy is varied',
  );
};

const variedOver = async (asked: Asked, axes: Axes): Promise<Varied> => {
  const { input, operation } = subjectOf(asked);
  const all = policiesOf(axes).length;
  const bar = progressBar(all);
  bar?.start(`Simulating ${plural(all, 'policy', 'policies')}`);
  const varied = await vary({ input, operation: operation.operation }, asked.setting, axes, () => bar?.advance(1));
  bar?.stop('Compared');
  if (varied.tried.length > 0) return varied;
  throw new CommandFailure(`all policies in --vary are invalid for this configuration: ${varied.refused[0]?.reason}`);
};

const recommendedFor = async (asked: Asked, aims: readonly Aim[], outcome: Outcome): Promise<Recommended> => {
  const { input, operation } = subjectOf(asked);
  const tasks = outcome.operations.reduce((sum, each) => sum + each.tasks, 0);
  const bar = progressBar(1);
  bar?.start('Searching for a policy');
  let done = 0;
  const onDone = (): void => bar?.advance(0, `${plural(++done, 'simulation')} done`);
  const subject = { input, operation: operation.operation };
  const recommended = await recommend(subject, operation, asked.setting, aims, { tasks, onDone });
  bar?.stop('Searched');
  return recommended;
};

/** Contents of a page or picture: the simulation and, if policies were compared, the trade-off. */
export interface Drawn {
  readonly outcome: Outcome;
  readonly compared: { readonly varied: Varied; readonly current: Figures } | undefined;
  /** Text output, as on the terminal. */
  readonly text: string;
}

/** A page contains all results. A picture shows the trade-off if there is one, otherwise the timeline. @throws CommandFailure */
export const writeOut = (file: string, { outcome, compared, text }: Drawn): void => {
  const tradeOff = compared && tradeOffPicture(compared.varied, compared.current);
  const pictures = [...(tradeOff === undefined ? [] : [tradeOff]), timelinePicture(outcome)];
  const content =
    extname(file) === '.svg'
      ? (pictures[0] ?? '')
      : pageOf('Results of the simulation', pictures, stripVTControlCharacters(text));
  try {
    writeFileSync(file, content);
  } catch (cause) {
    throw new CommandFailure(`${file} cannot be written: ${reasonOf(cause)}`);
  }
};
