/** What a view is, and what the page around it does for it. */
import type { TemplateResult } from 'lit';
import type { About } from '../../../server/shapes.ts';
import type { Live } from './live.ts';
import type { Route } from './router.ts';

/** A view of one address. It keeps what it needs between drawings, and reads the rest from {@link Page.live}. */
export interface Screen {
  /** Of the window; the view draws its own heading. */
  readonly title: string;
  /** The calls that it shows the answers of, now. */
  paths(): readonly string[];
  render(): TemplateResult;
}

/** Something in front of the page, until it is dealt with. */
export interface Dialog {
  readonly title: string;
  render(): TemplateResult;
}

export interface Page {
  readonly live: Live;
  /** Undefined until the server has told. */
  readonly about: About | undefined;
  /** Milliseconds of the epoch. */
  readonly now: number;
  /** Draws anew. */
  redraw(): void;
  go(route: Route): void;
  /** Likewise, without an entry of the history: what somebody types into a search. */
  replace(route: Route): void;
  /** Says what became of an action, also to whoever does not see it. */
  say(text: string, tone: 'ok' | 'bad'): void;
  open(dialog: Dialog): void;
  /** Whether it is this one that is in front of the page. */
  shows(dialog: Dialog): boolean;
  /** @param only closes nothing but this one: somebody may have gone on to another while its answer was awaited. */
  close(only?: Dialog): void;
}
