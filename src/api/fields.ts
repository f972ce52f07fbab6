/** Fields that several calls read, each with what is wrong with it. */

import type { Config } from '../domain/config/resolved.ts';
import { isToken } from '../domain/ids.ts';
import { unknownCallback } from '../domain/register/register-message.ts';
import type { Problem } from '../util/problems.ts';

export const unless = (isFit: boolean, path: string, reason: string): Problem[] => (isFit ? [] : [{ path, reason }]);

export const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

/** A whole number that has to be there. */
export const wholeProblems = (path: string, value: unknown, least: number, most: number): Problem[] =>
  unless(isWhole(value, least, most), path, `must be a whole number from ${least} to ${most}`);

/** A text that may be left out. */
export const textProblems = (path: string, value: unknown, bytes: number): Problem[] =>
  unless(value === undefined || isText(value, bytes), path, `must be well-formed text of 1 to ${bytes} bytes`);

const isText = (value: unknown, bytes: number): boolean =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && Buffer.byteLength(value) <= bytes;

/** What makes a call repeatable, if it is given. */
export const tokenProblems = (token: unknown): Problem[] =>
  unless(token === undefined || isToken(token), 'token', 'must be well-formed text of 1 to 64 characters');

export const callbackProblems = (config: Config, callback: unknown): Problem[] => {
  if (callback === undefined) return [];
  if (typeof callback === 'string') return unknownCallback(config, callback);
  return [{ path: 'callback', reason: 'must be the name of a configured destination' }];
};
