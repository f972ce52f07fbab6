/** What `groupage doctor` says of a stack's settings, of what AWS held back, and of this machine's clock. */

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
  /** Milliseconds that this machine is ahead of whoever answers for the API; absent where that does not say its time. */
  readonly clockAheadBy?: number;
  /** What was not looked at, and why. */
  readonly unseen: readonly { readonly what: string; readonly reason: string }[];
}

/** @param url the API's. */
export const lookAtSettings = async (options: CommonOptions, url: string): Promise<SettingsLook> => {
  const [settings, clockAheadBy] = await Promise.all([settingsOf(options), clockOf(url)]);
  return { ...settings, ...(clockAheadBy === undefined ? {} : { clockAheadBy }) };
};

type Settings = Omit<SettingsLook, 'clockAheadBy'>;

const settingsOf = async ({ stack, api }: CommonOptions): Promise<Settings> => {
  if (stack !== undefined) return ofStack(stack);
  if (api === undefined) return ofLocal();
  return nothing('settings and throttling', 'that takes --stack NAME, or the folder of the local stack');
};

const nothing = (what: string, reason: string): Settings => ({
  contradictions: [],
  throttled: [],
  unseen: [{ what, reason }],
});

const ofLocal = async (): Promise<Settings> => {
  const file = localStack();
  // Another version of Groupage runs there.
  if (!file.workers) return nothing('settings', 'the local stack does not tell them: start it again');
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

/** Who may use the API need not be allowed to look at functions and queues: then that is said, and the rest goes on. */
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
      return await inWords(`look at ${what}`, region, work);
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

/** Nobody has to let anybody in for this: a refusal has the time, too. */
const clockOf = async (url: string): Promise<number | undefined> => {
  const asked = Date.now();
  const { headers } = await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(10_000) });
  return skewOf(headers.get('date'), asked, Date.now());
};

/** A line for each thing that is wrong: what, and what to do. */
export const settingsLines = ({ contradictions, throttled, clockAheadBy = 0 }: SettingsLook): string[] => [
  ...contradictions.map((each) => `${each.what} → ${each.do}`),
  ...throttled.map(throttledLine),
  ...(isSkewed(clockAheadBy) ? [skewLine(clockAheadBy)] : []),
];

const isSkewed = (aheadBy: number): boolean => Math.abs(aheadBy) > CLOCK_SKEW;

const throttledLine = ({ what, kind, times }: Throttled): string => {
  const held = `${what}: ${plural(times, kind.slice(0, -1), kind)} throttled in the last hour`;
  return kind === 'invocations'
    ? `${held} → the account's concurrent executions, or a reserved concurrency, are used up: docs/how-to/operate.md#a-function-is-throttled`
    : `${held} → one key, or a table that grew suddenly: docs/how-to/operate.md#a-table-is-throttled`;
};

const skewLine = (aheadBy: number): string =>
  `this machine's clock is ${Math.round(Math.abs(aheadBy) / SECOND)} s ${aheadBy > 0 ? 'ahead of' : 'behind'} the API's, ${CLOCK_SKEW / SECOND} s are allowed → set it (NTP): leases that are held from here would end at the wrong time`;

/** What an HTTP date leaves out. */
const RESOLUTION: Millis = 1_000;

/**
 * By how much this machine's clock differs from that of whoever answers. Positive where this machine is ahead; 0 where the answer shows no difference: its `Date` has whole seconds, and was
 * written at some moment between asking and hearing. Undefined without one. Pure.
 */
export const skewOf = (date: string | null, asked: Millis, heard: Millis): Millis | undefined => {
  const written = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(written)) return undefined;
  if (asked > written + RESOLUTION) return asked - written - RESOLUTION;
  if (heard < written) return heard - written;
  return 0;
};
