/** A lease that is renewed after each third of its span, until it is stopped or lost. */
import { ApiRefused, ApiUnavailable, rest } from './ask-api.ts';

/** Why a lease is lost: the API said that another worker has the jobs, or no renewal was answered before its end. */
type Loss = 'refused' | 'expired';

export interface KeptLease {
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  lossOf(): Loss | undefined;
  lose(why: Loss): void;
  /** Stops renewing the lease. */
  stop(): Promise<void>;
}

/** Whether the API says that the claim has ended, or that another worker has its jobs. */
export const isRefusedClaim = (cause: unknown): boolean =>
  cause instanceof ApiRefused && (cause.status === 409 || cause.status === 404);

interface LeaseOptions {
  readonly renew: (signal: AbortSignal) => Promise<unknown>;
  /** Span of the lease, in milliseconds. */
  readonly span: number;
  /**
   * Time before the first request for the claim, by `performance.now()`. An answer that was lost may have granted the
   * claim.
   */
  readonly since: number;
  /** Called with an error that makes further renewals pointless. */
  readonly onBroken: (cause: unknown) => void;
}

/**
 * Keeps a lease. Renews it at once if a third of its span has passed already. The end is computed on this machine's
 * clock, from before the claim or renewal was requested. Other workers therefore get the jobs no earlier than that.
 */
export const keepLease = async ({ renew, span, since, onBroken }: LeaseOptions): Promise<KeptLease> => {
  const [lost, over] = [new AbortController(), new AbortController()];
  let loss: Loss | undefined;
  let end: NodeJS.Timeout | undefined;
  const lose = (why: Loss): void => {
    // 'refused' is certain, so 'expired' does not replace it.
    if (loss !== 'refused') loss = why;
    lost.abort();
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
      // If no answer came, the lease is renewed again after the next third.
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
