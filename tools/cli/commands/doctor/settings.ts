/** The checks of `groupage doctor` on a stack's settings, on throttling by AWS, and on this machine's clock. */

import type { Millis } from '../../../../src/domain/ids.ts';
import { CLOCK_SKEW, SECOND } from '../../../../src/domain/timings.ts';
import { inWords } from '../../../account/failures.ts';
import { type Contradiction, contradictionsIn } from '../../../doctor/settings.ts';
import type { Throttled } from '../../../doctor/throttles.ts';
import { CommandFailure } from '../../../failure.ts';
import { plural } from '../../../terminal.ts';
import { type CommonOptions, localStack } from '../../shared/connect.ts';

export interface SettingsLook {
  readonly contradictions: readonly Contradiction[];
  readonly throttled: readonly Throttled[];
  /** Milliseconds by which this machine's clock is ahead of the API's; absent if its response has no `Date`. */
  readonly clockAheadBy?: number;
  /** What could not be checked, and why. */
  readonly unseen: readonly { readonly what: string; readonly reason: string }[];
}

/** @param url URL of the API. */
export const lookAtSettings = async (options: CommonOptions, url: string): Promise<SettingsLook> => {
  const [settings, clockAheadBy] = await Promise.all([settingsOf(options), clockOf(url)]);
  return { ...settings, ...(clockAheadBy === undefined ? {} : { clockAheadBy }) };
};

type Settings = Omit<SettingsLook, 'clockAheadBy'>;

const settingsOf = async ({ stack, api }: CommonOptions): Promise<Settings> => {
  if (stack !== undefined) return ofStack(stack);
  if (api === undefined) return ofLocal();
  return nothing('settings and throttling', 'use --stack NAME, or run the command in the folder of the local stack');
};

const nothing = (what: string, reason: string): Settings => ({
  contradictions: [],
  throttled: [],
  unseen: [{ what, reason }],
});

const ofLocal = async (): Promise<Settings> => {
  const file = localStack();
  // The local stack runs another release of Groupage.
  if (!file.workers)
    return nothing('settings', 'the local stack runs another release of Groupage. Restart it with `npm start`');
  const [{ readLocal }, { localClients }] = await Promise.all([
    import('../../../doctor/queue-attributes.ts'),
    import('../../../local/clients.ts'),
  ]);
  const { sqs, dynamodb } = localClients(file);
  try {
    return { contradictions: contradictionsIn(await readLocal(sqs, file)), throttled: [], unseen: [] };
  } finally {
    sqs.destroy();
    dynamodb.destroy();
  }
};

/** A user of the API may lack permission to read functions and queues. Report that, and continue with the other checks. */
const ofStack = async (name: string): Promise<Settings> => {
  const { reachStack } = await import('../../shared/stack-api.ts');
  const { stack, service, account } = await reachStack(name);
  const { region, cloudFormation } = account;
  const [{ clientsLike, readDeployed }, { cloudWatchLike, throttledIn }] = await Promise.all([
    import('../../../doctor/deployed.ts'),
    import('../../../doctor/throttles.ts'),
  ]);
  const unseen: { what: string; reason: string }[] = [];
  const look = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await inWords(`read ${what}`, region, work);
    } catch (cause) {
      if (!(cause instanceof CommandFailure)) throw cause;
      unseen.push({ what, reason: cause.message });
      return undefined;
    }
  };
  const deployed = await look('settings', () => readDeployed(clientsLike(cloudFormation), stack, service));
  const throttled =
    deployed &&
    (await look('throttling', () => throttledIn(cloudWatchLike(cloudFormation.config), deployed, Date.now())));
  return { contradictions: deployed ? contradictionsIn(deployed) : [], throttled: throttled ?? [], unseen };
};

/** Compares the clocks. The request needs no permission, because an error response has a `Date` header too. */
const clockOf = async (url: string): Promise<number | undefined> => {
  const asked = Date.now();
  const { headers } = await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(10_000) });
  return skewOf(headers.get('date'), asked, Date.now());
};

/** A line for each problem, with its remedy. */
export const settingsLines = ({ contradictions, throttled, clockAheadBy = 0 }: SettingsLook): string[] => [
  ...contradictions.map((each) => `${each.what} → ${each.do}`),
  ...throttled.map(throttledLine),
  ...(isSkewed(clockAheadBy) ? [skewLine(clockAheadBy)] : []),
];

const isSkewed = (aheadBy: number): boolean => Math.abs(aheadBy) > CLOCK_SKEW;

const throttledLine = ({ what, kind, isIndex, times }: Throttled): string => {
  const held = `${what}: AWS throttled ${plural(times, kind.slice(0, -1), kind)} in the last hour`;
  if (kind === 'invocations')
    return `${held} → the account's concurrency limit or the function's reserved concurrency is used up, see docs/how-to/operate.md#a-function-is-throttled`;
  return isIndex
    ? `${held}${kind === 'writes' ? ', so writes of its table failed too' : ''} → the cause is a hot key of the index, see docs/how-to/operate.md#an-index-is-throttled`
    : `${held} → the cause is a hot key or a sudden rise in traffic, see docs/how-to/operate.md#a-table-is-throttled`;
};

const skewLine = (aheadBy: number): string =>
  `this machine's clock is ${Math.round(Math.abs(aheadBy) / SECOND)} s ${aheadBy > 0 ? 'ahead of' : 'behind'} the API's; at most ${CLOCK_SKEW / SECOND} s are allowed → correct the clock (NTP). Leases taken from this machine would end at the wrong time`;

/** Resolution of an HTTP date, in milliseconds. */
const RESOLUTION: Millis = 1_000;

/**
 * Difference between this machine's clock and the clock of the API, in milliseconds. Positive if this machine is ahead. 0 if
 * the response shows no difference: its `Date` has whole seconds, and was written between request and response. Undefined
 * without a `Date`. Pure.
 */
export const skewOf = (date: string | null, asked: Millis, received: Millis): Millis | undefined => {
  const written = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(written)) return undefined;
  if (asked > written + RESOLUTION) return asked - written - RESOLUTION;
  if (received < written) return received - written;
  return 0;
};
