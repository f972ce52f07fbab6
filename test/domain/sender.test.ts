import { describe, expect, it } from 'vitest';
import { parseSender, printSender, senderOf, UNKNOWN_SENDER } from '../../src/domain/producers/sender.ts';

const API = 'AROAAPI0000000000EXMP';
const SWEEP = 'AROASWEEP00000000EXMP';
const OWN = [API, SWEEP];

describe('the sender of a message', () => {
  it.each([
    ['a role, whatever its session is called', `AROAPRODUCER00000EXMP:${API}`, 'AROAPRODUCER00000EXMP'],
    ['a user', 'AIDAUSER0000000000EXM', 'AIDAUSER0000000000EXM'],
    ['the root user of an account', '111122223333', '111122223333'],
    ['a federated user, whose id differs from that of the root user', '111122223333:anna', '111122223333:anna'],
    ['a service of AWS, such as SNS', 'AIDAISMY7JYY5F7RTT6AO', 'AIDAISMY7JYY5F7RTT6AO'],
  ])('is %s', (_, senderId, id) => {
    expect(senderOf(senderId, undefined, OWN)).toEqual({ id, via: 'queue' });
  });

  it('is the one that a role of our own passes on', () => {
    expect(senderOf(`${API}:Flow-Api`, 'api:AROACALLER', OWN)).toEqual({ id: 'AROACALLER', via: 'api' });
    expect(senderOf(`${SWEEP}:Flow-Sweep`, 'queue:AROAPRODUCER', OWN)).toEqual({ id: 'AROAPRODUCER', via: 'queue' });
  });

  it("is not one that a stranger claims, even in the session's name", () => {
    expect(senderOf(`AROASTRANGER00000EXMP:${API}`, `api:${API}`, OWN)).toEqual({
      id: 'AROASTRANGER00000EXMP',
      via: 'queue',
    });
    expect(senderOf('111122223333', 'api:AROACALLER', OWN)).toEqual({ id: '111122223333', via: 'queue' });
  });

  it('is our role itself if it passes no sender on', () => {
    for (const passedOn of [undefined, '', 'root', 'queue:', 'api:\n'])
      expect(senderOf(`${API}:Flow-Api`, passedOn, OWN)).toEqual({ id: API, via: 'api' });
  });

  it('is unknown without an id', () => {
    for (const senderId of [undefined, '']) expect(senderOf(senderId, 'api:AROACALLER', OWN)).toEqual(UNKNOWN_SENDER);
    expect(senderOf('', undefined, [''])).toEqual(UNKNOWN_SENDER);
  });

  it('is printed as it is parsed, or as unknown', () => {
    const sender = { id: '111122223333:assumed-role/Ops', via: 'api' } as const;
    expect(parseSender(printSender(sender))).toEqual(sender);
    expect(parseSender(printSender({ id: 'a\nb', via: 'queue' }))).toEqual(UNKNOWN_SENDER);
  });
});
