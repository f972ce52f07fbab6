/** Thrown by a judge that finds a promise broken. */
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

/** @throws Violation with the promise and its subject, unless the promise holds. */
export const demand = (holds: boolean, promise: string, subject: unknown): void => {
  if (!holds) throw new Violation(promise, subject);
};
