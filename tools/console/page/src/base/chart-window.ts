/** The time range of the charts. The browser stores the choice; each console (its port) has a choice of its own. */
import type { About } from '../../../server/shapes.ts';

const KEY = 'groupage.charts';

/** The chosen time range, in milliseconds. If nothing valid was chosen: the usual one. */
export const chartWindow = ({ metrics: { window, windows } }: About): number => {
  const chosen = Number(localStorage.getItem(KEY));
  return windows.some(({ millis }) => millis === chosen) ? chosen : window;
};

/** The chosen time range, if the page must ask the server for it, because it is longer than the usual one. */
export const longerWindow = (about: About | undefined): number | undefined => {
  if (!about) return undefined;
  const window = chartWindow(about);
  return window > about.metrics.window ? window : undefined;
};

export const chooseChartWindow = (window: number): void => localStorage.setItem(KEY, String(window));
