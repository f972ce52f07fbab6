/** The machine's own Chromium, in which the page is looked at. */
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

/** Whether a test that wants it is to be left out; it fails where nothing may be missing. */
export const IS_WITHOUT_BROWSER = CHROMIUM === undefined && !NOTHING_MAY_BE_MISSING;

/** @throws Error where there is none. */
export const launchChromium = async (): Promise<Browser> => {
  if (CHROMIUM === undefined) throw new Error('there is no Chromium: install one, or name it by CHROMIUM_PATH');
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
};
