/** `groupage check`: is the configuration right, and what does it come to? */
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { CONFIG_FILES, EXAMPLE_CONFIG, findConfig, loadConfig } from '../../src/config/load.ts';
import { printDuration } from '../../src/domain/config/duration.ts';
import { type Config, handlerTimeout } from '../../src/domain/config/resolved.ts';
import { CommandFailure } from '../failure.ts';
import { plural, printable, printJson, table, whereIs, withoutSecrets } from '../terminal.ts';
import { hintsOf } from './hints.ts';
import { notesOf } from './notes.ts';

export const checkCommand = (): Command =>
  new Command('check')
    .description('check the configuration')
    .argument(
      '[file]',
      `the file (default: GROUPAGE_CONFIG, ${CONFIG_FILES.join(' or ')} in this folder, otherwise the example)`,
    )
    .action(async (file: string | undefined, { json }: { readonly json?: boolean }) => {
      const own = findConfig(process.cwd(), file);
      if (own === undefined && !existsSync(EXAMPLE_CONFIG))
        throw new CommandFailure(`there is no ${CONFIG_FILES.join(' or ')} in this folder: write one, or name a file`);
      if (own === undefined)
        console.error(`There is no ${CONFIG_FILES.join(' or ')} in this folder; this is examples/flights:\n`);
      const config = await loadConfig(own ?? EXAMPLE_CONFIG);
      console.log(json ? printJson(JSON.stringify(config, withoutSecretUrls)) : describe(config));
    });

/** A URL may hold a key in its query, and what is printed ends in logs. */
const withoutSecretUrls = (name: string, value: unknown): unknown =>
  name === 'url' && typeof value === 'string' ? withoutSecrets(value) : value;

const describe = (config: Config): string => {
  const rows = Object.values(config.operations).map(
    ({ operation, keys, shards, batch, downstream, retry, keepTasks }) => [
      operation,
      keys.length > 0 ? keys.join(', ') + (shards > 1 ? ` (${shards} shards)` : '') : 'one Target',
      `${plural(batch.maxSize, 'task')}, ${batch.maxBytes.toLocaleString('en')} bytes, ${printDuration(batch.maxWait)}`,
      `${whereIs(downstream)} (${printDuration(downstream.timeout)})`,
      `${retry.maxAttempts} × ${retry.immediate + 1} calls`,
      printDuration(keepTasks),
    ],
  );
  const seconds = printDuration(handlerTimeout(config));
  const notes = notesOf(config).map((note) => `${printable(note)}\n`);
  const hints = hintsOf(config).map((hint) => `Hint: ${printable(hint)}\n`);
  return `${table(['OPERATION', 'GROUPED BY', 'BATCH AT MOST', 'DOWNSTREAM', 'ATTEMPTS', 'KEPT'], rows)}\n\n${notes.length > 0 ? `${notes.join('')}\n` : ''}${hints.length > 0 ? `${hints.join('')}\n` : ''}The configuration is right. The batch handler gets ${seconds} for an attempt.`;
};
