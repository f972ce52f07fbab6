/** Notes the dates of DynamoDB's answers in a {@link StoreClock}. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { StoreClock } from '../util/store-clock.ts';

/**
 * Makes a client note the date of each HTTP answer, including errors. An answer without a date and an attempt without an
 * answer are not noted. Requests are unchanged.
 */
export const noteDates = ({ middlewareStack }: DynamoDBClient, clock: StoreClock): void =>
  middlewareStack.add(
    (next) => async (args) => {
      const sent = Date.now();
      const answer = await next(args);
      clock.note({ sent, received: Date.now(), date: dateOf(answer.response) });
      return answer;
    },
    // Inside the retry loop, so the times are those of one attempt. Inside the deserializer, which throws for errors.
    { step: 'deserialize', priority: 'low', name: 'noteDates' },
  );

/** The date of an HTTP answer, in milliseconds since the epoch. NaN if it has no valid date. */
const dateOf = (response: unknown): number => {
  const { headers } = (response ?? {}) as { readonly headers?: Readonly<Record<string, string>> };
  return Date.parse(headers?.date ?? '');
};
