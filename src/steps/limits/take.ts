/**
 * Takes a moment for a call under each of its limits, without waiting in a queue.
 *
 * A call under several limits needs one moment for all of them. The step reads all buckets, finds the earliest moment
 * that fits all, and writes the buckets in the order of their names. If another function changed a bucket meanwhile, it
 * begins again and keeps what it has, as long as that has not lapsed. It never waits for another function.
 */
import type { Millis } from '../../domain/ids.ts';
import {
  type Asked,
  type Bucket,
  beganLine,
  chanceIn,
  type Grant,
  granted,
  isValid,
  withoutLease,
} from '../../domain/limits/bucket.ts';
import { latenessOf } from '../../domain/limits/line.ts';
import { isGranting } from '../../domain/limits/queue.ts';
import type { LeadDeps } from '../deps.ts';
import { replace } from './change.ts';
import { wakeGranter } from './join.ts';
import { endLeases } from './leases.ts';

/** How a call asks for its moments. */
export interface Terms {
  /** Moments that the call has already. */
  readonly held?: readonly Grant[];
  /** The call cannot start earlier than this many milliseconds from now. */
  readonly ahead: Millis;
  /** The call can wait for this many milliseconds, if it has no moment yet. */
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
/** How far ahead a call under several limits may get its moments if those that it was granted lapse meanwhile. */
const TOGETHER: Millis = 10_000;

/** A limit for which the call has no moment yet. */
interface Open {
  readonly asked: Asked;
  readonly bucket: Bucket;
}

export const take = async (deps: LeadDeps, calls: readonly Asked[], terms: Terms): Promise<Taken> => {
  const { buckets, machine } = deps;
  let held = terms.held ?? [];
  let isTogether = false;
  for (let tries = 1; ; tries += 1) {
    const read = await Promise.all(calls.map(async (asked) => ({ asked, bucket: await buckets.read(asked.bucket) })));
    const now = buckets.now();
    const [valid, missing] = apart(read, held, now);
    await endLeases(
      deps,
      held.filter((each) => !valid.includes(each)),
    );
    held = valid;
    if (missing.length === 0 && !isTogether) return { is: 'taken', grants: held };
    const open = isTogether ? read.map((each) => withoutOwn(each, valid)) : missing;
    const kept = isTogether ? [] : held;
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
      held.length > 0 || terms.isFirst
        ? []
        : chances.filter(({ bucket, chance }) => isGranting(bucket, now) && chance.at > now + terms.ahead);
    // Wait for the limit whose line is longest. The others probably have moments by then.
    if (queues.length > 0) return busy(queues.reduce(later));
    const at = Math.max(last.chance.at, ...kept.map((each) => each.at));
    const reach = isTogether ? Math.max(TOGETHER, terms.reach) : terms.reach;
    // A call with a moment waits for it in any case.
    const latest = Math.min(...(kept.length > 0 ? kept.map((each) => each.at + lateness(read, each)) : [now + reach]));
    if (at > latest) {
      if (held.length === 0 || isTogether || tries > TRIES) return busy(last);
      // A moment that it has lapses before the other limit is free. So it takes the next moment that suits all limits,
      // and goes before waiting calls, because it has waited already. It keeps its leases for that moment: if it ended
      // them, the next waiting call would get them and have to give them up in turn, and so on without end.
      isTogether = true;
      continue;
    }
    let written = 0;
    for (const { asked, bucket } of open) {
      const next = granted(bucket, asked, at, { id: machine.token(), until: at + terms.leaseFor }, now);
      if (await replace(deps, asked.bucket, bucket, next.bucket)) break;
      if (beganLine(bucket, next.bucket)) await wakeGranter(deps, asked.bucket, bucket);
      held = [...held.filter((each) => each.bucket !== asked.bucket), next.grant];
      written += 1;
    }
    if (written === open.length) return { is: 'taken', grants: held };
    if (tries >= TRIES) return busy(last);
    await machine.sleep(machine.random() * 20 * tries);
  }
};

/** The bucket as if the call did not have its lease, which its next write replaces. */
const withoutOwn = ({ asked, bucket }: Open, held: readonly Grant[]): Open => {
  const lease = held.find((each) => each.bucket === asked.bucket)?.lease;
  return { asked, bucket: lease === undefined ? bucket : withoutLease(bucket, lease) };
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
    return of !== undefined && isValid(grant, of.bucket, of.asked.allows, now);
  });
  return [valid, read.filter(({ asked }) => !valid.some(({ bucket }) => bucket === asked.bucket))];
};

const lateness = (read: readonly Open[], { bucket }: Grant): Millis =>
  latenessOf((read.find(({ asked }) => asked.bucket === bucket) as Open).asked.allows);

const giveUp = async (deps: LeadDeps, { asked, bucket }: Open, held: readonly Grant[]): Promise<Taken> => {
  await endLeases(deps, held);
  return { is: 'busy', asked, bucket };
};
