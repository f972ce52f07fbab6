/** A fleet: its nodes, and the owner of each partition. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Fleet, FleetNode, NodeDrained } from '../../../../../src/api/fleets/responses.ts';
import { because, PATHS, post } from '../base/api.ts';
import { count } from '../base/format.ts';
import type { Page, Screen } from '../base/screen.ts';
import { ask } from '../components/dialogs.ts';
import { heading } from '../components/heading.ts';
import { partitionGrid } from '../components/partition-grid.ts';
import { badge, command, empty, figure, idText, refused, skeleton } from '../components/parts.ts';
import { type Column, table } from '../components/table.ts';
import { letterOf } from '../model/fleet.ts';
import { nodeState } from '../model/words.ts';

export const fleetScreen = (page: Page, id: string): Screen => {
  const path = PATHS.fleet(id);
  return {
    title: `Fleet ${id}`,
    paths: () => [path],
    render: () => {
      const fleet = page.live.body<Fleet>(path);
      return html`
        ${heading({ kind: 'Fleet', name: id, under: [{ route: { view: 'fleets' }, text: 'Fleets' }] })}
        ${refused(page, path) ?? about(page, fleet)}
        ${command('fleet', 'show', id, '--partitions')}`;
    },
  };
};

const about = (page: Page, fleet: Fleet | undefined): TemplateResult => {
  const of = (status: string): number => fleet?.partitions.filter((each) => each.status === status).length ?? 0;
  return html`
    <div class="figures">
      ${figure('Nodes', fleet ? count(fleet.nodes.length) : skeleton('s'), `${count(fleet?.nodes.filter(({ status }) => status === 'working').length ?? 0)} working`)}
      ${figure('Partitions', fleet ? count(fleet.partitions.length) : skeleton('s'))}
      ${figure('About to move', fleet ? count(of('asked')) : skeleton('s'))}
      ${figure('Free', fleet ? count(of('free')) : skeleton('s'), 'without an owner')}
    </div>
    <section aria-labelledby="nodes-title">
      <h2 id="nodes-title">Nodes</h2>
      ${table({ name: 'Nodes', columns: nodeColumns(page, fleet), rows: fleet?.nodes, expected: 3, empty: empty('No node has joined', 'Start a worker; it joins the fleet by itself.') })}
    </section>
    <section aria-labelledby="partitions-title">
      <h2 id="partitions-title">Partitions by owner</h2>
      ${fleet ? partitionGrid(page, fleet) : nothing}
    </section>`;
};

const nodeColumns = (page: Page, fleet: Fleet | undefined): readonly Column<FleetNode>[] => [
  { name: 'Letter', cell: ({ node }) => html`<span class="letter">${letterOf(fleet?.nodes ?? [], node)}</span>` },
  { name: 'Node', cell: ({ node }) => idText(node) },
  { name: 'Status', cell: ({ status }) => badge(nodeState(status)) },
  { name: 'Partitions', number: true, cell: ({ partitions }) => count(partitions) },
  { name: 'Last heartbeat', number: true, cell: ({ lastBeatAt }) => html`<time-ago at=${lastBeatAt}></time-ago>` },
  { name: 'Evicted after', number: true, minor: true, cell: ({ ttlSeconds }) => `${count(ttlSeconds)} s` },
  { name: 'Started', number: true, minor: true, cell: ({ startedAt }) => html`<time-ago at=${startedAt}></time-ago>` },
  { name: 'Drain', cell: (node) => drainButton(page, fleet?.id ?? '', node) },
];

const drainButton = (page: Page, fleet: string, { node, status }: FleetNode): unknown => {
  if (status !== 'working' && status !== 'draining') return nothing;
  const draining = status === 'working';
  const drain = (): void =>
    ask(page, {
      title: draining ? `Drain ${node}` : `Undo the drain of ${node}`,
      text: draining
        ? 'The node gives its partitions to other nodes, each when its current work has finished. It takes no new ones.'
        : 'The node takes partitions again.',
      button: draining ? 'Drain' : 'Undo',
      run: (reason) =>
        post(because(`${PATHS.fleet(fleet)}/nodes/${encodeURIComponent(node)}/drain`, reason), { draining }),
      done: (body) =>
        (body as NodeDrained).warning ?? (draining ? `${node} is draining` : `${node} takes partitions again`),
    });
  return html`<button class="small" @click=${drain}>${draining ? 'Drain…' : 'Undo drain…'}<span class="unseen"> ${node}</span></button>`;
};
