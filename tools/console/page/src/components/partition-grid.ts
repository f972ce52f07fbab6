/** A grid of the partitions of a fleet by owner. A click on a cell opens the dialog to move it. */
import { html, type TemplateResult } from 'lit';
import type {
  Fleet,
  FleetPartition,
  PartitionInFull,
  PartitionMoved,
} from '../../../../../src/api/fleets/responses.ts';
import { because, get, PATHS, post, type Reply } from '../base/api.ts';
import type { Dialog, Page } from '../base/screen.ts';
import { colourOf, inOrder, letterOf, shares, spokenPartition } from '../model/fleet.ts';
import { buttons, reasonField, reasonIn } from './dialogs.ts';
import { facts, idText, problem, skeleton } from './parts.ts';

export const partitionGrid = (page: Page, fleet: Fleet): TemplateResult => html`
  <p class="muted">${shares(fleet.nodes, fleet.partitions)}. Each cell shows the letter of its owner. – is a free partition, → one that is about to move, and • one that is pinned to a node.</p>
  <ul class="grid">
    ${inOrder(fleet.partitions).map((partition) => cell(page, fleet, partition))}
  </ul>`;

const cell = (page: Page, fleet: Fleet, partition: FleetPartition): TemplateResult => {
  const { id, status, owner, pin } = partition;
  const colour = status === 'free' ? 'free' : `c${colourOf(fleet.nodes, owner)}`;
  const mark = status === 'free' ? '–' : letterOf(fleet.nodes, owner);
  return html`<li><button class="cell ${colour} ${status}" title=${spokenPartition(partition)} @click=${() => page.open(new MoveDialog(page, fleet, partition))}>
    <span>${id}</span><strong>${mark}${status === 'asked' ? '→' : ''}${pin ? '•' : ''}</strong>
    <span class="unseen">${spokenPartition(partition)}</span></button></li>`;
};

class MoveDialog implements Dialog {
  readonly title: string;
  readonly #page: Page;
  readonly #fleet: Fleet;
  readonly #partition: FleetPartition;
  #refused: TemplateResult | undefined;
  #checkpoint: unknown = skeleton('m');

  constructor(page: Page, fleet: Fleet, partition: FleetPartition) {
    this.title = `Partition ${partition.id}`;
    this.#page = page;
    this.#fleet = fleet;
    this.#partition = partition;
    void this.#load();
  }

  /**
   * Reads the partition's checkpoint when a user opens the partition, because the data of the fleet contain no
   * checkpoints.
   */
  async #load(): Promise<void> {
    const reply: Reply<PartitionInFull> = await get(PATHS.partition(this.#fleet.id, this.#partition.id));
    if (reply.ok) this.#checkpoint = reply.body.checkpoint && html`<code class="id">${reply.body.checkpoint}</code>`;
    else this.#checkpoint = reply.detail;
    this.#page.redraw();
  }

  render(): TemplateResult {
    const { status, owner, lastOwner, next, pin, fence, since } = this.#partition;
    return html`
      ${facts([
        ['Status', status],
        ['Owner', owner && idText(owner)],
        ['Previous owner', lastOwner && idText(lastOwner)],
        ['Moves to', next && idText(next)],
        ['Pinned to', pin && idText(pin)],
        ['Since', since && html`<time-ago at=${since}></time-ago>`],
        ['Fence', fence],
        ['Checkpoint', this.#checkpoint],
      ])}
      <form @submit=${(event: SubmitEvent) => this.#submit(event)}>
        <label>Move it to
          <select name="to">
            <option value="">any node (balanced automatically)</option>
            ${this.#fleet.nodes
              .filter((node) => node.status === 'working' || node.status === 'draining')
              .map(({ node }) => html`<option value=${node} ?selected=${node === pin}>${node}</option>`)}
          </select>
        </label>
        <p class="muted">The partition moves when its owner has finished its current work. It stays pinned to the node as long as that node runs.</p>
        ${reasonField()}
        ${this.#refused ?? ''}
        ${buttons(this.#page, html`<button class="primary">Move</button>`)}
      </form>`;
  }

  async #submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const to = String(new FormData(form).get('to') ?? '') || null;
    const path = because(`${PATHS.partition(this.#fleet.id, this.#partition.id)}/move`, reasonIn(form));
    const reply: Reply<PartitionMoved> = await post(path, { to });
    if (reply.ok) {
      this.#page.close();
      const where = to === null ? 'is balanced automatically again' : `moves to ${to}`;
      this.#page.say(reply.body.warning ?? `Partition ${this.#partition.id} ${where}`, 'ok');
    } else this.#refused = problem(reply.detail, reply.errors);
    this.#page.redraw();
  }
}
