/** The installed Chromium, which tests use to open the page. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { NOTHING_MAY_BE_MISSING } from '../../backends/missing.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const isThere = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const found = (): string | undefined => {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  if (CHROMIUM_PATH) return CHROMIUM_PATH;
  return ['/usr/bin', ...PATH.split(delimiter)]
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find(isThere);
};

const CHROMIUM = found();

/** Whether tests with a browser are skipped. They fail instead if no dependency may be missing. */
export const IS_WITHOUT_BROWSER = CHROMIUM === undefined && !NOTHING_MAY_BE_MISSING;

/** @throws Error if there is no Chromium. */
export const launchChromium = async (): Promise<Browser> => {
  if (CHROMIUM === undefined) throw new Error('Chromium was not found: install it, or set CHROMIUM_PATH to its path');
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
};
