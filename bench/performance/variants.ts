/** The variants that are compared, Groupage first. */
import { batchWindow } from './variants/batch-window.ts';
import { fifo } from './variants/fifo.ts';
import { oneCall } from './variants/one-call.ts';
import { ours } from './variants/ours.ts';
import { published } from './variants/published.ts';
import type { Variant } from './variants/variant.ts';

export const VARIANTS: readonly Variant[] = [ours, oneCall, published, batchWindow, fifo];
