/** The trace context of a call, so that what the downstream logs is found from its batch, and the other way round. */
import { createHash } from 'node:crypto';
import type { Call } from './downstream.ts';

/** The header, or message attribute, that carries it. */
export const TRACE_HEADER = 'traceparent';

/**
 * W3C Trace Context, level 1: a batch is a trace, each attempt at it a span. Sampled, since there are few. Both ids come
 * from the batch's alone: a repeated call has the same, and the log needs no more to name them.
 */
export const traceparentOf = ({ batchId, attempt }: Pick<Call, 'batchId' | 'attempt'>): string =>
  `00-${hash(batchId).slice(0, 32)}-${hash(`${batchId}.${attempt}`).slice(0, 16)}-01`;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
