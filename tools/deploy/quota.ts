/** Checks the account's quota of concurrent Lambda executions. A small quota delays tasks, but prevents no deployment. */
import { type AccountLimit, GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { CALLBACKS_AT_ONCE } from '../../src/domain/callbacks/share.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { INVOCATIONS_AT_ONCE, LEADER_VISIBILITY, MAX_RECEIVES, MINUTE } from '../../src/domain/timings.ts';
import { inWords } from '../account/failures.ts';
import type { Account } from '../account/stacks.ts';
import { CommandFailure } from '../failure.ts';

/** The quota of an account that is not new. */
const USUAL = 1_000;

/** A note if the quota is small or cannot be read. Undefined if it is large enough. */
export const quotaNote = async ({ region }: Account, config: Config): Promise<string | undefined> => {
  try {
    return smallQuota(await limitOf(region), region, config);
  } catch (cause) {
    if (!(cause instanceof CommandFailure)) throw cause;
    return `the quota of concurrent Lambda executions was not checked: ${cause.message}`;
  }
};

/** The times keep a deployment going where Lambda cannot be reached. */
const limitOf = (region: string): Promise<AccountLimit> =>
  inWords('read the quota of concurrent Lambda executions', region, async () => {
    const requestHandler = { connectionTimeout: 2_000, requestTimeout: 3_000, throwOnRequestTimeout: true };
    const client = new LambdaClient({ region, maxAttempts: 2, requestHandler });
    const { AccountLimit = {} } = await client.send(new GetAccountSettingsCommand({}));
    return AccountLimit;
  });

/** The most invocations that the event sources start at once. The sweep and the API come on top. */
const invocationsOf = ({ destinations }: Config): number =>
  Object.values(INVOCATIONS_AT_ONCE).reduce((sum, most) => sum + most, 0) +
  (Object.keys(destinations).length > 0 ? CALLBACKS_AT_ONCE : 0);

/** Says what a quota means for tasks, and how to raise it. Undefined if the quota is large enough. */
export const smallQuota = (
  { ConcurrentExecutions: quota, UnreservedConcurrentExecutions: free = quota }: AccountLimit,
  region: string,
  config: Config,
): string | undefined => {
  if (quota === undefined || free === undefined)
    return 'the quota of concurrent Lambda executions was not checked: Lambda did not report it';
  const most = invocationsOf(config);
  if (free >= most) return undefined;
  const reserved = quota - free;
  const minutes = (MAX_RECEIVES * LEADER_VISIBILITY) / MINUTE;
  return [
    `this account allows ${free} concurrent Lambda executions in ${region}${reserved > 0 ? ` (${quota}, of which ${reserved} are reserved)` : ''}, and under load Groupage's functions need up to ${most}.`,
    `Lambda throttles the rest: tasks wait, and a message that is throttled for ${minutes} minutes or longer becomes a dead letter. The sweep sends dead letters again when it is not throttled itself, so tasks are late, but not lost.`,
    `To raise the quota, run: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${USUAL + reserved} --region ${region}`,
  ].join(' ');
};
