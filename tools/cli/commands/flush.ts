/** `groupage flush TARGET`: what waits is sealed now. */
import { Command } from 'commander';
import { plural, printable, printJson } from '../../terminal.ts';
import { FLUSHED } from '../shared/answers.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';

/** The API counts no further. */
const COUNTED = 1_000;

export const flushCommand = (): Command =>
  new Command('flush')
    .description('seal now what waits in a Target, full or not; where it is paused, once it is resumed')
    .argument('<target>', 'the Target, e.g. report-flights/origin=MUC')
    .action(async (target: string, options: CommonOptions) => {
      const api = await connect(options);
      const { text, value } = await api.post('/targets/flush', JSON.stringify({ target }), FLUSHED);
      const { waiting } = value;
      const tasks = `${plural(waiting, 'waiting task')}${waiting >= COUNTED ? ' and more' : ''}`;
      console.log(options.json ? printJson(text) : printable(`${value.target}: ${tasks} flushed`));
    });
