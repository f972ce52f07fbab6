/** Shows the configuration of one operation: what applies to it, and where each value comes from. */
import { printJson, table } from '../../terminal.ts';
import { adviceOf, describeAdvice } from './advice.ts';
import { CONFIGURATION, type SettingShape } from './answers.ts';
import type { ApiClient } from './api-client.ts';
import { type CommonOptions, connect } from './connect.ts';

/** @throws ApiFailure if there is no such operation */
export const showOperation = async (
  operation: string,
  options: CommonOptions & { readonly advice?: boolean },
): Promise<void> => {
  const { text, value } = await configurationOf(await connect(options), operation);
  const advice = options.advice ? await adviceOf(operation, options) : undefined;
  if (options.json) console.log(advice ? printJson(JSON.stringify({ ...value, advice })) : printJson(text));
  else console.log(`${describeSettings(value.settings)}${advice ? `\n\n${describeAdvice(advice)}` : ''}`);
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
