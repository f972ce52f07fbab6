/** One decision of IAM. */

/** A resource as at the end of its ARN: a table, `<table>/index/<index>`, a queue. */
export interface Use {
  readonly action: string;
  readonly resource: string;
}

/** A command whose permissions are not listed here. */
export class UnknownCommand extends Error {
  override readonly name = 'UnknownCommand';
  constructor(what: string) {
    super(`no permission is known for ${what}: add the IAM actions that it needs to test/permissions`);
  }
}
