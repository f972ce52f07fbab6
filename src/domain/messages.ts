/**
 * The form of messages between releases. A release reads the messages of the release before it, and ignores fields that
 * it does not know. If ignoring a field would do harm, the message contains the number of its form in `v`. A release
 * that does not know the form leaves the message in its queue (docs/how-to/upgrade.md).
 */

/** The size limit of SQS for one message, and for one request with several messages. */
export const SQS_MAX_BYTES = 1_048_576;

/** A message in one of the inner queues that Groupage did not write. */
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
    `not a message that Groupage sends (${expected} expected): only Groupage's own functions may send to this queue`,
    body,
  );

/** The number of the form of all messages so far. Messages do not contain it. */
const FORM = 1;

/** A message in a form of a later release. SQS delivers it again until that release, or a later one, is deployed. */
export class NewerMessage extends Error {
  override readonly name = 'NewerMessage';
  readonly form: number;
  constructor(form: number) {
    super(
      `the message has form ${form}, and this release reads forms up to ${FORM}: a later release sent it. SQS delivers it again until that release, or a later one, is deployed`,
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
