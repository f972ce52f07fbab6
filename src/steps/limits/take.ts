/**
 * Takes a moment for a call under each of its limits, without waiting in a queue.
 *
 * A call under several limits needs one moment for all of them. The step reads all buckets, finds the earliest moment
 * that fits all, and writes the buckets in the order of their names. If another function changed a bucket meanwhile, it
 * begins again and keeps what it has, as long as that has not lapsed. It never waits for another function.
 */
import type { Millis } from '../../domain/ids.ts';
import { type Asked, type Bucket, chanceIn, type Grant, granted, isValid } from '../../domain/limits/bucket.ts';
import { latenessOf } from '../../domain/limits/line.ts';
import { isGranting } from '../../domain/limits/queue.ts';
import type { LeadDeps } from '../deps.ts';
import { replace } from './change.ts';
import { endLeases } from './leases.ts';

/** How a call asks for its moments. */
export interface Terms {
  /** Moments that the call has already. */
  readonly held?: readonly Grant[];
  /** The call cannot start earlier than this many milliseconds from now. */
  readonly ahead: Millis;
  /** The call can wait for this many milliseconds. */
  readonly reach: Millis;
  /** Whether the call goes before waiting calls in a queue, because its attempt has begun. */
  readonly isFirst?: boolean;
  /** How long its leases last after its moment, unless the attempt ends earlier. */
  readonly leaseFor: Millis;
}

/** Moments under all limits, or the limit for which the call has to wait. */
export type Taken =
  | { readonly is: 'taken'; readonly grants: readonly Grant[] }
  | { readonly is: 'busy'; readonly asked: Asked; readonly bucket: Bucket };

/** How often a function begins again before it waits in a queue. */
const TRIES = 5;
/** How far ahead a call under several limits may get its moment if one that it was granted lapses meanwhile. */
const TOGETHER: Millis = 10_000;

/** A limit for which the call has no moment yet. */
interface Open {
  readonly asked: Asked;
  readonly bucket: Bucket;
}

export const take = async (deps: LeadDeps, calls: readonly Asked[], terms: Terms): Promise<Taken> => {
  const { buckets, machine } = deps;
  let held = terms.held ?? [];
  let { reach, isFirst = false } = terms;
  for (let tries = 1; ; tries += 1) {
    const read = await Promise.all(calls.map(async (asked) => ({ asked, bucket: await buckets.read(asked.bucket) })));
    const now = buckets.now();
    const [valid, open] = apart(read, held, now);
    await endLeases(
      deps,
      held.filter((each) => !valid.includes(each)),
    );
    held = valid;
    if (open.length === 0) return { is: 'taken', grants: held };
    const busy = (of: Open): Promise<Taken> => giveUp(deps, of, held);
    const chances = open.map((each) => ({
      ...each,
      chance: chanceIn(each.bucket, each.asked, now, now + terms.ahead),
    }));
    const full = chances.find(({ chance }) => chance.is === 'full');
    if (full) return busy(full);
    const last = chances.reduce(later);
    // The granter keeps the line of calls that wait longer than this. A shorter line has moments that would be lost.
    const queues =
      held.length > 0 || isFirst
        ? []
        : chances.filter(({ bucket, chance }) => isGranting(bucket, now) && chance.at > now + terms.ahead);
    // Wait for the limit whose line is longest. The others probably have moments by then.
    if (queues.length > 0) return busy(queues.reduce(later));
    const at = Math.max(last.chance.at, ...held.map((each) => each.at));
    const latest = Math.min(now + reach, ...held.map((each) => each.at + lateness(read, each)));
    if (at > latest) {
      if (held.length === 0 || tries > TRIES) return busy(last);
      // The moment that it has lapses before the other limit is free. Under both limits it goes before waiting calls,
      // because it has waited already. Otherwise it could lose one moment after the other.
      await endLeases(deps, held);
      [held, reach, isFirst] = [[], TOGETHER, true];
      continue;
    }
    for (const { asked, bucket } of open) {
      const next = granted(bucket, asked, at, { id: machine.token(), until: at + terms.leaseFor }, now);
      if (await replace(deps, asked.bucket, bucket, next.bucket)) break;
      held = [...held, next.grant];
    }
    if (held.length === calls.length) return { is: 'taken', grants: held };
    if (tries >= TRIES) return busy(last);
    await machine.sleep(machine.random() * 20 * tries);
  }
};

const later = <T extends { readonly chance: { readonly at: Millis } }>(a: T, b: T): T =>
  b.chance.at > a.chance.at ? b : a;

/** The moments that are still valid, and the limits without one. */
const apart = (
  read: readonly Open[],
  held: readonly Grant[],
  now: Millis,
): readonly [readonly Grant[], readonly Open[]] => {
  const valid = held.filter((grant) => {
    const of = read.find(({ asked }) => asked.bucket === grant.bucket);
    return of !== undefined && isValid(grant, of.bucket, now);
  });
  return [valid, read.filter(({ asked }) => !valid.some(({ bucket }) => bucket === asked.bucket))];
};

const lateness = (read: readonly Open[], { bucket }: Grant): Millis =>
  latenessOf((read.find(({ asked }) => asked.bucket === bucket) as Open).asked.allows);

const giveUp = async (deps: LeadDeps, { asked, bucket }: Open, held: readonly Grant[]): Promise<Taken> => {
  await endLeases(deps, held);
  return { is: 'busy', asked, bucket };
};
