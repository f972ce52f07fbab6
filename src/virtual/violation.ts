/** A promise that a schedule may find broken. */

/** A promise that was broken. */
export class Violation extends Error {
  override readonly name = 'Violation';
  readonly promise: string;
  /** To whom it was broken. */
  readonly subject: unknown;
  constructor(promise: string, subject: unknown) {
    super(`${promise}: ${JSON.stringify(subject)}`);
    this.promise = promise;
    this.subject = subject;
  }
}

/** @throws Violation, naming the promise and whom it was broken to. */
export const demand = (holds: boolean, promise: string, subject: unknown): void => {
  if (!holds) throw new Violation(promise, subject);
};
