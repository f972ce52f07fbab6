/** The error with which a judge reports a broken promise. */
export class Violation extends Error {
  override readonly name = 'Violation';
  readonly promise: string;
  /** The task, batch or other thing for which the promise was broken. */
  readonly subject: unknown;
  constructor(promise: string, subject: unknown) {
    super(`${promise}: ${JSON.stringify(subject)}`);
    this.promise = promise;
    this.subject = subject;
  }
}

/**
 * Checks a promise.
 * @throws Violation with the promise and its subject if the promise does not hold
 */
export const demand = (holds: boolean, promise: string, subject: unknown): void => {
  if (!holds) throw new Violation(promise, subject);
};
