/** Finds the API that a command uses: of the local stack, at a URL, or of a deployed stack. */
import { dirname } from 'node:path';
import { Option } from 'commander';
import { CommandFailure } from '../../failure.ts';
import { type LocalFile, readLocalFile } from '../../local/local-folder.ts';
import { type ApiClient, apiClient, type Send } from './api-client.ts';

/** Options that every command takes. */
export interface CommonOptions {
  readonly api?: string;
  readonly stack?: string;
  readonly json?: boolean;
}

/** The option of commands that are recorded in the audit trail. */
export interface WithReason extends CommonOptions {
  readonly reason?: string;
}

/** The API checks the text. */
export const reasonOption = (): Option => new Option('--reason <text>', 'reason, shown by `groupage audit`');

/** The API for a command with a reason: each change is sent with the reason. @throws CommandFailure */
export const connectBecause = async ({ reason, ...options }: WithReason): Promise<ApiClient> => {
  const api = await connect(options);
  if (reason === undefined) return api;
  const because = (path: string): string =>
    `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ reason })}`;
  return {
    ...api,
    post: (path, body, shape) => api.post(because(path), body, shape),
    delete: (path, shape) => api.delete(because(path), shape),
  };
};

/** @throws CommandFailure */
export const connect = async (options: CommonOptions, folder = process.cwd()): Promise<ApiClient> => {
  const { url, send } = await reachApi(options, folder);
  return apiClient(url, send);
};

/** Address of the API including its version, and how requests reach it. @throws CommandFailure */
export const reachApi = async (
  { api, stack }: CommonOptions,
  folder = process.cwd(),
): Promise<{ readonly url: string; readonly send: Send }> => {
  if (stack === undefined) return { url: api ?? localStack(folder).api, send: fetch };
  // Load the SDK only here: loading takes longer than a whole local command.
  const { reachStack } = await import('./stack-api.ts');
  return reachStack(stack, api);
};

/** The options with which another command reaches the same API. `connect` refuses URLs that contain secrets. */
export const toSameApi = ({ api, stack }: CommonOptions): string =>
  [stack === undefined ? '' : ` --stack ${stack}`, api === undefined ? '' : ` --api ${JSON.stringify(api)}`].join('');

/** The local stack that runs in this folder or in a parent folder. @throws CommandFailure */
export const localStack = (folder = process.cwd()): LocalFile => {
  const file = readLocalFile(folder);
  if (file) return file;
  const above = dirname(folder);
  if (above !== folder) return localStack(above);
  throw new CommandFailure(
    'no local stack of yours runs in this folder or a parent folder. Start one with `npx groupage dev` (in a clone of Groupage: `npm start`), or use --api URL or --stack NAME',
  );
};
