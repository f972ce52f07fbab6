/** Which API a command talks to: the local stack's, one by its address, or a deployed stack's. */
import { dirname } from 'node:path';
import { CommandFailure } from '../../failure.ts';
import { type LocalFile, readLocalFile } from '../../local/local-folder.ts';
import { type ApiClient, apiClient } from './api-client.ts';

/** Options that every command takes. */
export interface CommonOptions {
  readonly api?: string;
  readonly stack?: string;
  readonly json?: boolean;
}

/** @throws CommandFailure */
export const connect = async ({ api, stack }: CommonOptions, folder = process.cwd()): Promise<ApiClient> => {
  if (stack === undefined) return apiClient(api ?? localStack(folder).api);
  // The SDK takes longer to load than a local command takes.
  const { stackApi } = await import('./stack-api.ts');
  return stackApi(stack, api);
};

/** What a command that is told to somebody needs to reach the same API. No secret is in an address that `connect` took. */
export const toSameApi = ({ api, stack }: CommonOptions): string =>
  [stack === undefined ? '' : ` --stack ${stack}`, api === undefined ? '' : ` --api ${JSON.stringify(api)}`].join('');

/** The stack that runs in this folder, or in one above it. @throws CommandFailure */
export const localStack = (folder = process.cwd()): LocalFile => {
  const file = readLocalFile(folder);
  if (file) return file;
  const above = dirname(folder);
  if (above !== folder) return localStack(above);
  throw new CommandFailure(
    "no local stack runs in this folder, or it is another user's: start one with `npm start` in a clone of Groupage, name an API with --api URL, or a deployed stack with --stack NAME",
  );
};
