/** What the API's answers hold, as far as the command line shows them, and what its commands share. */

/** Options that every command takes. */
export interface CommonOptions {
  readonly api?: string;
  readonly stack?: string;
  readonly json?: boolean;
}

export interface TaskShape {
  readonly id: string;
  readonly operation: string;
  readonly target: string;
  readonly status: 'created' | 'batched' | 'in-progress' | 'succeeded' | 'failed';
  readonly batchId?: string;
  readonly attempts: number;
  readonly correlationId?: string;
  readonly createdAt: string;
  readonly finishedAt?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly retriable: boolean };
  readonly payload?: unknown;
  readonly result?: unknown;
  readonly resultOmitted?: { readonly bytes: number };
}

export interface BatchShape {
  readonly id: string;
  readonly target: string;
  readonly status: string;
  readonly sealedBy: string;
  readonly size: number;
  readonly fill?: number;
  readonly attempt: number;
  readonly counts?: { readonly succeeded: number; readonly failed: number };
  readonly createdAt: string;
  readonly sealedAt?: string;
  readonly finishedAt?: string;
  readonly nextAttemptAfter?: string;
}

export interface TargetShape {
  readonly target: string;
  readonly operation: string;
  readonly waiting: number;
  readonly waitingIsAtLeast?: boolean;
  readonly oldestAt?: string;
  readonly leader: { readonly fence: number; readonly lockedUntil: string } | null;
  readonly openBatch?: string;
}
