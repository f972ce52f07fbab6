/** The colour scheme: the scheme of the system, until the user chooses another one. The browser stores the choice. */

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'groupage.theme';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

export const theme = (): Theme => THEMES.find((each) => each === localStorage.getItem(KEY)) ?? 'system';

/** The next scheme in the cycle. */
export const nextTheme = (): Theme => THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length] ?? 'system';

export const choose = (chosen: Theme): void => {
  localStorage.setItem(KEY, chosen);
  show();
};

const show = (): void => {
  if (theme() === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme();
};

show();
