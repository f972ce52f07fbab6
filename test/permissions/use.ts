/** One thing that IAM decides about. */

/** A resource as at the end of its ARN: a table, `<table>/index/<index>`, a queue. */
export interface Use {
  readonly action: string;
  readonly resource: string;
}

/** A command that nobody has said the permissions of. */
export class UnknownCommand extends Error {
  override readonly name = 'UnknownCommand';
  constructor(what: string) {
    super(`no permission is known for ${what}: say in test/permissions which IAM actions it needs`);
  }
}
