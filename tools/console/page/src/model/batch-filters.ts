/** The filters of a list of batches. Pure. */
import type { BatchOutline } from '../../../../../src/api/batches/responses.ts';

/** The states to choose from, with their texts. */
export const STATES = [
  ['open', 'not finished'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed, wholly or partly'],
] as const;

/** The fills to choose from, with their texts. */
export const FILLS = [
  ['low', 'less than a quarter'],
  ['half', 'a quarter or more, but not full'],
  ['full', 'full'],
] as const;

export const hasState = ({ status }: Pick<BatchOutline, 'status'>, state: string | undefined): boolean => {
  switch (state) {
    case 'open':
      return ['forming', 'sealed', 'in-progress'].includes(status);
    case 'succeeded':
      return status === 'succeeded';
    case 'failed':
      return status === 'failed' || status === 'partly-failed';
  }
  return true;
};

/** A batch of an operation that is no longer configured has no fill. It matches no choice. */
export const hasFill = ({ fill }: Pick<BatchOutline, 'fill'>, wanted: string | undefined): boolean => {
  switch (wanted) {
    case 'low':
      return fill !== undefined && fill < 0.25;
    case 'half':
      return fill !== undefined && fill >= 0.25 && fill < 1;
    case 'full':
      return fill !== undefined && fill >= 1;
  }
  return true;
};
