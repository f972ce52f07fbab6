/**
 * The `groupage` command: its subcommands, and the options that they share. A new subcommand needs a file in `commands`
 * with its name, a line here, and a row in docs/reference/command-line.md.
 */
import { Command, CommanderError } from 'commander';
import { InvalidConfig } from '../../src/config/load.ts';
import { RELEASE } from '../../src/domain/release.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import { printable } from '../terminal.ts';
import { auditCommand } from './commands/audit.ts';
import { batchesCommand } from './commands/batches.ts';
import { cancelCommand } from './commands/cancel.ts';
import { checkCommand } from './commands/check.ts';
import { completionCommand } from './commands/completion/completion.ts';
import { consoleCommand } from './commands/console.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor/doctor.ts';
import { failuresCommand } from './commands/failures.ts';
import { fanOutCommand } from './commands/fan-out/fan-out.ts';
import { fleetCommand } from './commands/fleet.ts';
import { flushCommand } from './commands/flush.ts';
import { limitsCommand } from './commands/limits.ts';
import { listsCommand } from './commands/lists/lists.ts';
import { operationsCommand } from './commands/operations.ts';
import { pauseCommand, resumeCommand } from './commands/pause.ts';
import { redriveCommand } from './commands/redrive.ts';
import { rejectedCommand } from './commands/rejected/rejected.ts';
import { sendCommand } from './commands/send.ts';
import { simulateCommand } from './commands/simulate/simulate.ts';
import { statusCommand } from './commands/status.ts';
import { targetsCommand } from './commands/targets.ts';
import { tasksCommand } from './commands/tasks.ts';
import { tryCommand } from './commands/try/try.ts';
import { watchCommand } from './commands/watch.ts';

/** All commands, with their options. */
export const program = (): Command => {
  const groupage = new Command('groupage')
    .description('Groups single tasks into full batches. Send tasks, follow them, and operate a stack.')
    .version(RELEASE, '--version', 'show the release')
    .showHelpAfterError('(add --help to see the usage)')
    .exitOverride();
  for (const command of [
    sendCommand(),
    statusCommand(),
    cancelCommand(),
    tasksCommand(),
    failuresCommand(),
    batchesCommand(),
    targetsCommand(),
    operationsCommand(),
    limitsCommand(),
    watchCommand(),
    flushCommand(),
    pauseCommand(),
    resumeCommand(),
    redriveCommand(),
    rejectedCommand(),
    fanOutCommand(),
    listsCommand(),
    fleetCommand(),
    doctorCommand(),
    auditCommand(),
    consoleCommand(),
    checkCommand(),
    tryCommand(),
    devCommand(),
    simulateCommand(),
    completionCommand(),
  ]) {
    for (const each of command.commands) withShared(each);
    groupage.addCommand(command.commands.length > 0 ? refusing(command) : withShared(command));
  }
  return groupage;
};

/** Wrong usage throws a CommanderError, so that {@link run} decides the exit status. */
const refusing = (command: Command): Command =>
  command.showHelpAfterError('(add --help to see the usage)').exitOverride();

/** Commands that call no API. */
const WITHOUT_STACK = ['check', 'try', 'simulate'];

/** Commands that print no data. */
const WITHOUT_DATA = ['dev', 'completion'];

/** Adds the options that all commands share. */
const withShared = (command: Command): Command => {
  if (WITHOUT_DATA.includes(command.name())) return eachOnce(refusing(command));
  if (!WITHOUT_STACK.includes(command.name()))
    command
      .option(
        '--stack <name>',
        'use this deployed stack (NAME or NAME/ID), with the AWS credentials and region of the environment',
      )
      .option(
        '--api <url>',
        'use the HTTP API at this URL (default: the API of --stack, or of the local stack in this folder)',
      );
  return eachOnce(refusing(command.option('--json', 'print JSON instead of text')));
};

/** Refuses an option that is given twice: commander would silently use the last value. */
const eachOnce = (command: Command): Command => {
  for (const option of command.options.filter(({ variadic }) => !variadic)) {
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`error: option '${option.flags}' is given twice`);
      isGiven = true;
    });
  }
  return command;
};

/** Runs a command. @returns the exit status: 0, 1 if the command failed, 2 if it was used wrongly. */
export const run = async (args: readonly string[]): Promise<number> => {
  try {
    await program().parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (cause) {
    // Commander has already printed the error, or the help.
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
    if (!(cause instanceof CommandFailure || cause instanceof InvalidConfig)) throw cause;
    console.error(cause.message.split('\n').map(printable).join('\n'));
    return cause instanceof WrongUsage ? 2 : 1;
  }
};
