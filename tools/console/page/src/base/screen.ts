/** The interfaces of a view and of the page around it. */
import type { TemplateResult } from 'lit';
import type { About } from '../../../server/shapes.ts';
import type { Live } from './live.ts';
import type { Route } from './router.ts';

/** A view of one address. It keeps its own state between drawings, and reads the rest from {@link Page.live}. */
export interface Screen {
  /** The title of the browser window. The view draws its own heading. */
  readonly title: string;
  /** The calls whose answers it shows at the moment. */
  paths(): readonly string[];
  render(): TemplateResult;
}

/** A modal dialog. */
export interface Dialog {
  readonly title: string;
  render(): TemplateResult;
}

export interface Page {
  readonly live: Live;
  /** Undefined until the server has answered. */
  readonly about: About | undefined;
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** Draws the page again. */
  redraw(): void;
  go(route: Route): void;
  /** Like `go`, but without a new entry in the browser's history. For a search that follows the user's typing. */
  replace(route: Route): void;
  /** Shows the outcome of an action; screen readers read it out too. */
  say(text: string, tone: 'ok' | 'bad'): void;
  open(dialog: Dialog): void;
  /** Whether this dialog is open. */
  shows(dialog: Dialog): boolean;
  /** @param only closes only this dialog: the user may have opened another one before its answer arrived. */
  close(only?: Dialog): void;
}
