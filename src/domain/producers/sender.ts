/**
 * Who sent a register message. SQS sets `SenderId` to the unique id of the caller, so no sender can forge it. The session
 * name after the `:` is chosen by the program that assumes the role, so it proves nothing.
 *
 * Functions of Groupage send messages for others: the API for its callers, the sweep for dead letters. They pass the
 * original sender on in a message attribute. Any sender can set this attribute, so it counts only if `SenderId` is a role
 * of these functions.
 */

import { withoutSession } from '../deployed/principal.ts';

export interface Sender {
  /**
   * The unique id of a role (`AROA…`) or user (`AIDA…`), the id of an account for its root user, `ACCOUNT:name` for a
   * federated user, or the id that AWS uses for a service.
   */
  readonly id: string;
  /** `api`: a caller of the API sent it, or a function of Groupage itself. `queue`: a producer sent it to the queue. */
  readonly via: 'queue' | 'api';
}

/** The sender of a message that names none, such as one that an earlier release moved to the rejected queue. */
export const UNKNOWN_SENDER: Sender = { id: 'unknown', via: 'queue' };

/** The id of every caller where no IAM tells callers apart: in `npm start` and in tests. */
export const LOCAL_SENDER: Sender = { id: 'local', via: 'queue' };

const ID = /^[\x21-\x7e]{1,256}$/;
const SENDER = /^(queue|api):([\x21-\x7e]{1,256})$/;

export const printSender = ({ id, via }: Sender): string => `${via}:${ID.test(id) ? id : UNKNOWN_SENDER.id}`;

/** Reads what {@link printSender} wrote. Undefined for any other text. */
export const parseSender = (text: string | undefined): Sender | undefined => {
  const [, via, id] = SENDER.exec(text ?? '') ?? [];
  return id === undefined ? undefined : { id, via: via as Sender['via'] };
};

/**
 * @param senderId SQS's system attribute `SenderId`
 * @param passedOn the message attribute with the original sender
 * @param ownRoles the unique ids of the roles that may pass a sender on
 */
export const senderOf = (
  senderId: string | undefined,
  passedOn: string | undefined,
  ownRoles: readonly string[],
): Sender => {
  if (!senderId) return UNKNOWN_SENDER;
  const id = withoutSession(senderId);
  if (!ownRoles.includes(id)) return { id, via: 'queue' };
  return parseSender(passedOn) ?? { id, via: 'api' };
};
