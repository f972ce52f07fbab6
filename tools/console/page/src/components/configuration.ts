/** The configuration of an operation: the settings with their sources. Built-in defaults are folded. */
import { html, nothing, type TemplateResult } from 'lit';
import type { OperationConfiguration, Setting } from '../../../../../src/api/operations/responses.ts';
import { count } from '../base/format.ts';
import type { Page } from '../base/screen.ts';
import { empty } from './parts.ts';
import { type Column, table } from './table.ts';

/** The words for the sources. */
const SOURCES: Readonly<Record<Setting['source'], string>> = {
  operation: 'operation',
  configuration: 'all operations',
  derived: 'other settings',
  'built-in': 'default',
};

const SETTING: Column<Setting> = { name: 'Setting', cell: ({ path }) => html`<code>${path}</code>` };
const VALUE: Column<Setting> = { name: 'Value', cell: ({ value }) => html`<code>${written(value)}</code>` };
const SOURCE: Column<Setting> = { name: 'Set by', cell: ({ source }) => SOURCES[source] };
const MEANING: Column<Setting> = { name: 'Meaning', minor: true, cell: ({ meaning }) => meaning.replaceAll('`', '') };

/** A value as in a configuration file, but a text without quotation marks. */
const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export const configurationSection = ({ live }: Page, path: string): TemplateResult => {
  const of = live.body<OperationConfiguration>(path);
  const isOlder = (live.answer(path)?.status ?? 200) >= 300;
  const set = of?.settings.filter(({ source }) => source !== 'built-in');
  const usual = of?.settings.filter(({ source }) => source === 'built-in') ?? [];
  return html`
    <section aria-labelledby="configuration-title">
      <h2 id="configuration-title">Configuration</h2>
      ${isOlder ? html`<p class="muted">The API of this stack does not show it. Deploy this release of Groupage to see it here.</p>` : table({ name: 'Settings of this operation', columns: [SETTING, VALUE, SOURCE, MEANING], rows: set, expected: 3, empty: empty('No setting is set', 'All have their defaults.') })}
      ${
        usual.length === 0
          ? nothing
          : html`<details>
            <summary>${count(usual.length)} settings with their defaults</summary>
            ${table({ name: 'Settings with their defaults', columns: [SETTING, VALUE, MEANING], rows: usual, empty: empty('No setting has its default', '') })}
          </details>`
      }
    </section>`;
};
