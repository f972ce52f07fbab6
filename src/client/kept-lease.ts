/** A lease that is renewed after each third of its span, until it is stopped or lost. */
import { ApiRefused, ApiUnavailable, rest } from './ask-api.ts';

/**
 * Why a lease is lost. `refused`: the API answered that another worker has the jobs. `expired`: the lease ended before
 * the API answered a renewal.
 */
type Loss = 'refused' | 'expired';

/** The reason of a job's signal if its claim is lost: another worker may have the job. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

const WHY: Record<Loss, string> = {
  refused: 'the claim was broken, or its lease ended and other workers can claim its jobs',
  expired: 'the lease ended before the API answered a renewal',
};

export interface KeptLease {
  /** Aborts with {@link ClaimLost} when the lease is lost. */
  readonly lost: AbortSignal;
  lossOf(): Loss | undefined;
  lose(why: Loss): void;
  /** Stops renewing the lease. */
  stop(): Promise<void>;
}

/** Whether an error of the API says that the claim has ended, or that another worker has its jobs. */
export const isRefusedClaim = (cause: unknown): boolean =>
  cause instanceof ApiRefused && (cause.status === 409 || cause.status === 404);

interface LeaseOptions {
  readonly renew: (signal: AbortSignal) => Promise<unknown>;
  /** Span of the lease, in milliseconds. */
  readonly span: number;
  /**
   * Time before the first request for the claim, by `performance.now()`. Even an answer that was lost may have granted
   * the claim.
   */
  readonly since: number;
  /** Called with an error after which further renewals are pointless. */
  readonly onBroken: (cause: unknown) => void;
}

/**
 * Renews a lease until it is stopped or lost. Renews it at once if a third of its span has passed already. The end of
 * the lease is computed on this machine's clock from the time before each request, so other workers get the jobs no
 * earlier than that.
 */
export const keepLease = async ({ renew, span, since, onBroken }: LeaseOptions): Promise<KeptLease> => {
  const [lost, over] = [new AbortController(), new AbortController()];
  let loss: Loss | undefined;
  let end: NodeJS.Timeout | undefined;
  const lose = (why: Loss): void => {
    // Keep the reason 'refused' instead of a later 'expired', because 'refused' is certain.
    if (loss !== 'refused') loss = why;
    lost.abort(new ClaimLost(WHY[why]));
    clearTimeout(end);
  };
  const endAt = (until: number): void => {
    clearTimeout(end);
    end = setTimeout(() => lose('expired'), Math.max(0, until - performance.now()));
  };
  const again = async (): Promise<void> => {
    const asked = performance.now();
    try {
      await renew(over.signal);
      if (!lost.signal.aborted && !over.signal.aborted) endAt(asked + span);
    } catch (cause) {
      if (over.signal.aborted) return;
      if (isRefusedClaim(cause)) lose('refused');
      // If the API did not answer, the loop renews the lease again after the next third of its span.
      else if (!(cause instanceof ApiUnavailable)) onBroken(cause);
    }
  };
  const keep = async (): Promise<void> => {
    for (;;) {
      await rest(span / 3, over.signal);
      if (over.signal.aborted || lost.signal.aborted) return;
      await again();
    }
  };
  if (performance.now() - since > span / 3) await again();
  if (end === undefined && !lost.signal.aborted) endAt(since + span);
  const kept = keep();
  return {
    lost: lost.signal,
    lossOf: () => loss,
    lose,
    stop: async () => {
      over.abort();
      clearTimeout(end);
      await kept;
    },
  };
};
