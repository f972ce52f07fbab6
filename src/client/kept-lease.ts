/** A lease that is renewed each third of it, until it is let go, or lost. */
import { ApiRefused, ApiUnavailable, rest } from './ask-api.ts';

/** Why a lease is lost: the API said that somebody else has the jobs, or no renewal was answered before its end. */
type Loss = 'refused' | 'expired';

export interface KeptLease {
  /** Aborts once it is lost. */
  readonly lost: AbortSignal;
  lossOf(): Loss | undefined;
  lose(why: Loss): void;
  /** It is not renewed any more. */
  letGo(): Promise<void>;
}

/** Whether the API says that a claim is nobody's any more, or somebody else's. */
export const isRefusedClaim = (cause: unknown): boolean =>
  cause instanceof ApiRefused && (cause.status === 409 || cause.status === 404);

interface LeaseOptions {
  readonly renew: (signal: AbortSignal) => Promise<unknown>;
  /** Milliseconds. */
  readonly span: number;
  /** By `performance.now()`: before the claim was first asked for, since a lost answer may have granted it. */
  readonly since: number;
  /** Is told of what makes renewing pointless. */
  readonly onBroken: (cause: unknown) => void;
}

/**
 * Renews it at once where a third of it is over already. It ends by this machine's clock, counted from before the
 * claim, or its renewal, was asked for: others get it a little later at the earliest.
 */
export const keepLease = async ({ renew, span, since, onBroken }: LeaseOptions): Promise<KeptLease> => {
  const [lost, over] = [new AbortController(), new AbortController()];
  let loss: Loss | undefined;
  let end: NodeJS.Timeout | undefined;
  const lose = (why: Loss): void => {
    // Who has been refused knows it for sure.
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
      // Where no answer came the next third tries again.
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
    letGo: async () => {
      over.abort();
      clearTimeout(end);
      await kept;
    },
  };
};
