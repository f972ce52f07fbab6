/** `groupage cancel ID`: cancels a task that no batch has claimed yet. */
import { Command } from 'commander';
import { printable, printJson } from '../../terminal.ts';
import { TASK } from '../shared/answers.ts';
import { someId } from '../shared/arguments.ts';
import { connectBecause, reasonOption, type WithReason } from '../shared/connect.ts';

export const cancelCommand = (): Command =>
  new Command('cancel')
    .description(
      'cancel a waiting task, which then counts as failed (exit status 1 if a batch already contains the task)',
    )
    .argument('<id>', "the task's id", someId)
    .addOption(reasonOption())
    .action(async (id: string, options: WithReason) => {
      const api = await connectBecause(options);
      const { text, value } = await api.delete(`/tasks/${encodeURIComponent(id)}`, TASK);
      console.log(options.json ? printJson(text) : printable(`${value.id} is cancelled`));
    });
