import { readFileSync } from 'node:fs';

/** Of Groupage, and so of its contract. */
export const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};
