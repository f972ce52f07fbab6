/** What ends a command, or a start, with a message instead of a stack trace. */

/** Something that the user can mend: shown as one message, exit status 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** The command was used wrongly: exit status 2. */
export class WrongUsage extends CommandFailure {}

/** Something that the local runtime needs could not start. The message says why and what to do. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
