/**
 * The form of messages. Releases read what the one before them wrote: of fields that they do not know they take no notice. Where
 * that would not do, a message says in `v` which form it has, and a release that does not know the form leaves it alone
 * (docs/how-to/upgrade.md).
 */

/** What SQS takes as one message, and as one request of several. */
export const SQS_MAX_BYTES = 1_048_576;

/** A message on one of the inner queues that none of the λs wrote. */
export class UnreadableMessage extends Error {
  override readonly name = 'UnreadableMessage';
  readonly body: string;
  constructor(problem: string, body: string) {
    super(problem);
    this.body = body;
  }
}

export const notOurs = (expected: string, body: string): UnreadableMessage =>
  new UnreadableMessage(
    `not a message that Groupage sends (${expected} expected): only its own λs may write to this queue`,
    body,
  );

/** The form of all of them until now: it is not written. */
const FORM = 1;

/** A message in a form that a later release brought. It comes back until that is deployed again, or one after it. */
export class NewerMessage extends Error {
  override readonly name = 'NewerMessage';
  readonly form: number;
  constructor(form: number) {
    super(
      `a message in form ${form}, and this release reads forms up to ${FORM}: a later release sent it. It comes back until that is deployed again, or one after it`,
    );
    this.form = form;
  }
}

/** @throws NewerMessage */
export const inKnownForm = (message: Record<string, unknown>): Record<string, unknown> => {
  const { v } = message;
  if (typeof v === 'number' && Number.isSafeInteger(v) && v > FORM) throw new NewerMessage(v);
  return message;
};
