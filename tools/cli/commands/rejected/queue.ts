/** The two queues whose messages only a user handles, as options and in words. */
import { Option } from 'commander';
import type { FinalQueue } from '../../../../src/ports/queues.ts';

export interface QueueOptions {
  readonly givenUp?: boolean;
}

export const givenUpOption = (): Option =>
  new Option('--given-up', 'events that no destination accepted for three days, instead of rejected messages');

export const queueOf = ({ givenUp }: QueueOptions): FinalQueue => (givenUp ? 'given-up' : 'rejected');

/** The noun for a message of a queue. */
export const oneOf = (queue: FinalQueue): string => (queue === 'rejected' ? 'rejected message' : 'given-up event');
