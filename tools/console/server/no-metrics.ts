/** Where there are no metrics to be had. */
import { CommandFailure } from '../../failure.ts';
import type { MetricsSource } from './metrics-source.ts';

/** @param reason why, and what to do. */
export const noMetrics = (reason: string): MetricsSource => ({
  about: async () => ({ from: 'nowhere', everySeconds: 3_600, dollarsPerHour: 0 }),
  look: async () => {
    throw new CommandFailure(`there are no metrics: ${reason}`);
  },
});
