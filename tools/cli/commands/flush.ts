/** `groupage flush TARGET`: seals a batch of the waiting tasks now. */
import { Command } from 'commander';
import { plural, printable, printJson } from '../../terminal.ts';
import { FLUSHED } from '../shared/answers.ts';
import { connectBecause, reasonOption, type WithReason } from '../shared/connect.ts';

/** The API counts waiting tasks up to this number. */
const COUNTED = 1_000;

export const flushCommand = (): Command =>
  new Command('flush')
    .description(
      'seal a batch of the waiting tasks of a Target now, even if the batch is not full (if the Target is paused: when it is resumed)',
    )
    .argument('<target>', 'Target, e.g. report-flights/origin=MUC')
    .addOption(reasonOption())
    .action(async (target: string, options: WithReason) => {
      const api = await connectBecause(options);
      const { text, value } = await api.post('/targets/flush', JSON.stringify({ target }), FLUSHED);
      const { waiting } = value;
      const tasks = `${plural(waiting, 'waiting task')}${waiting >= COUNTED ? ' and more' : ''}`;
      console.log(options.json ? printJson(text) : printable(`${value.target}: ${tasks} flushed`));
    });
