/** The fleets that at least one node has ever joined. */
import { html } from 'lit';
import { PATHS } from '../base/api.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { empty, link, refused } from '../components/parts.ts';
import { table } from '../components/table.ts';

export const fleetsScreen = (page: Page): Screen => ({
  title: 'Fleets',
  paths: () => [PATHS.fleets],
  render: () => html`
    ${heading({ name: 'Fleets' })}
    <p class="lead">A fleet is a set of long-running workers that share partitions through a table.</p>
    ${
      refused(page, PATHS.fleets) ??
      table({
        name: 'Fleets',
        columns: [{ name: 'Fleet', cell: (id: string) => link({ view: 'fleet', id }, id) }],
        rows: page.live.body<{ readonly fleets: readonly string[] }>(PATHS.fleets)?.fleets,
        expected: 2,
        empty: empty('No fleet yet', html`<code>npm run example:fleet</code> runs an example.`),
      })
    }`,
});
