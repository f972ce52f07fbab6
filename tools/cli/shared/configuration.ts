/** Shows the configuration of one operation: what applies to it, and where each value comes from. */
import { printJson, table } from '../../terminal.ts';
import { CONFIGURATION, type SettingShape } from './answers.ts';
import type { ApiClient } from './api-client.ts';

/** @throws ApiFailure if there is no such operation */
export const showConfiguration = async (
  api: ApiClient,
  operation: string,
  { json }: { readonly json?: boolean },
): Promise<void> => {
  const { text, value } = await configurationOf(api, operation);
  console.log(json ? printJson(text) : describeSettings(value.settings));
};

const configurationOf = (api: ApiClient, operation: string) =>
  api.get(`/operations/${encodeURIComponent(operation)}/configuration`, CONFIGURATION);

/** The words for the sources. A newer API may have others. */
const SOURCES: Readonly<Record<string, string>> = {
  operation: 'this operation',
  configuration: 'all operations',
  derived: 'follows from other settings',
  'built-in': 'built-in default',
};

/** The settings that the configuration decides come first, then the built-in defaults. */
const describeSettings = (settings: readonly SettingShape[]): string => {
  const [usual, own] = [
    settings.filter(({ source }) => source === 'built-in'),
    settings.filter(({ source }) => source !== 'built-in'),
  ];
  return table(
    ['SETTING', 'VALUE', 'FROM'],
    [...own, ...usual].map(({ path, value, source }) => [path, printValue(value), SOURCES[source] ?? source]),
  );
};

/** A value as in a configuration file, but a text without quotation marks. */
const printValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
