/** What steps are meant to answer where too many ask at once. */
import { ListBusy } from '../../src/steps/turns.ts';

/** Undefined for whoever is told to ask again in a moment. */
export const busyOr = async <T>(answer: Promise<T>): Promise<T | undefined> => {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof ListBusy) return undefined;
    throw cause;
  }
};
