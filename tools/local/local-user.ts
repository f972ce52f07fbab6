/** Names the operating system's user to the local API, as IAM names the caller of a deployed one. */
import { userInfo } from 'node:os';
import { Hono } from 'hono';
import type { LocalEnv } from '../../src/api/shared/caller.ts';

export const forLocalUser = (api: Hono): Hono => {
  const env: LocalEnv = { localUser: userName() };
  return new Hono().all('*', ({ req }) => api.fetch(req.raw, env));
};

/** A user id that has no entry in the user database, as in some containers, has no name. */
const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? ''}`.trim();
  }
};
