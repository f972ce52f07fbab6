/** Errors that end a command, or the start of the local stack, with a message instead of a stack trace. */

/** An error that the user can correct. Shown as one message; exit status 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** Wrong usage of a command; exit status 2. */
export class WrongUsage extends CommandFailure {}

/** A part of the local stack could not start. The message explains why and what to do. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}

/** Another program uses a port. */
export class PortInUse extends StartFailure {
  readonly port: number;
  constructor(port: number) {
    super(`port ${port} is in use by another program. Choose another one with --port`);
    this.port = port;
  }
}
