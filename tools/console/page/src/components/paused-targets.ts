/** Targets with a pause of their own. The overview's lists contain only the first Targets by name, so these are read apart. */
import type { Target, TargetPage } from '../../../../../src/api/targets/responses.ts';
import { get, PATHS } from '../base/api.ts';
import type { Page } from '../base/screen.ts';

/** How often they are read while the view is open, in milliseconds. A read looks at 300 Targets of an operation. */
const EVERY = 60_000;
const LIMIT = 20;

export class PausedTargets {
  readonly #page: Page;
  readonly #operations: () => readonly string[];
  #found: readonly Target[] = [];
  #readAt = 0;

  /** @param operations the operations whose Targets are read. */
  constructor(page: Page, operations: () => readonly string[]) {
    this.#page = page;
    this.#operations = operations;
  }

  /** The paused Targets as last read. Empty before the first answer. */
  get all(): readonly Target[] {
    if (this.#page.about && Date.now() > this.#readAt + EVERY) void this.#read();
    return this.#found;
  }

  async #read(): Promise<void> {
    this.#readAt = Date.now();
    const replies = await Promise.all(
      this.#operations().map((operation) =>
        get<TargetPage>(PATHS.targets({ operation, sort: 'paused', limit: LIMIT })),
      ),
    );
    // The API of an earlier release refuses the unknown parameter `sort`.
    const failed = replies.find((reply) => !reply.ok && reply.status !== 400);
    if (failed && !failed.ok) return this.#page.say(`Paused Targets could not be read: ${failed.detail}`, 'bad');
    const targets = replies.flatMap((reply) => (reply.ok ? reply.body.targets : []));
    this.#found = targets.filter(({ paused }) => paused !== undefined);
    this.#page.redraw();
  }
}
