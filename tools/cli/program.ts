/**
 * The command line `groupage`: its commands, and what every one of them shares. Another command is a file of `commands`, named
 * as it is called, a line here, and a row in docs/reference/command-line.md.
 */
import { Command, CommanderError } from 'commander';
import { InvalidConfig } from '../../src/config/load.ts';
import { RELEASE } from '../../src/domain/release.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import { printable } from '../terminal.ts';
import { batchesCommand } from './commands/batches.ts';
import { cancelCommand } from './commands/cancel.ts';
import { checkCommand } from './commands/check.ts';
import { consoleCommand } from './commands/console.ts';
import { doctorCommand } from './commands/doctor/doctor.ts';
import { failuresCommand } from './commands/failures.ts';
import { fanOutCommand } from './commands/fan-out/fan-out.ts';
import { fleetCommand } from './commands/fleet.ts';
import { flushCommand } from './commands/flush.ts';
import { listsCommand } from './commands/lists/lists.ts';
import { operationsCommand } from './commands/operations.ts';
import { pauseCommand, resumeCommand } from './commands/pause.ts';
import { redriveCommand } from './commands/redrive.ts';
import { sendCommand } from './commands/send.ts';
import { simulateCommand } from './commands/simulate/simulate.ts';
import { statusCommand } from './commands/status.ts';
import { targetsCommand } from './commands/targets.ts';
import { tasksCommand } from './commands/tasks.ts';
import { watchCommand } from './commands/watch.ts';

/** All commands, with their options. */
export const program = (): Command => {
  const groupage = new Command('groupage')
    .description('Groups single tasks into full batches: send tasks, and see what becomes of them.')
    .version(RELEASE, '--version', 'show which release this is')
    .showHelpAfterError('(--help shows how)')
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
    watchCommand(),
    flushCommand(),
    pauseCommand(),
    resumeCommand(),
    redriveCommand(),
    fanOutCommand(),
    listsCommand(),
    fleetCommand(),
    doctorCommand(),
    consoleCommand(),
    checkCommand(),
    simulateCommand(),
  ]) {
    for (const each of command.commands) withShared(each);
    groupage.addCommand(command.commands.length > 0 ? refusing(command) : withShared(command));
  }
  return groupage;
};

/** How wrong usage is answered. */
const refusing = (command: Command): Command => command.showHelpAfterError('(--help shows how)').exitOverride();

/** They ask nobody. */
const WITHOUT_STACK = ['check', 'simulate'];

/** What every command takes, and how it is refused. */
const withShared = (command: Command): Command => {
  if (!WITHOUT_STACK.includes(command.name()))
    command
      .option(
        '--stack <name>',
        'talk to this CloudFormation stack (NAME, or NAME/ID), with the credentials and region of the environment',
      )
      .option('--api <url>', "the HTTP API to talk to (default: the stack's, or that of this folder's local stack)");
  return eachOnce(refusing(command.option('--json', 'print JSON')));
};

/** Of two values of an option the last would count, without a word. */
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

/** Runs the command line. @returns the exit status: 0, 1 when it failed, 2 when it was used wrongly. */
export const run = async (args: readonly string[]): Promise<number> => {
  try {
    await program().parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (cause) {
    // Commander has printed what is wrong, or the help that was asked for.
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
    if (!(cause instanceof CommandFailure || cause instanceof InvalidConfig)) throw cause;
    console.error(cause.message.split('\n').map(printable).join('\n'));
    return cause instanceof WrongUsage ? 2 : 1;
  }
};
