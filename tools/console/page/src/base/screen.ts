/** The interfaces of a view and of the page around it. */
import type { TemplateResult } from 'lit';
import type { About } from '../../../server/shapes.ts';
import type { Live } from './live.ts';
import type { Route } from './router.ts';

/** A view of one address. It keeps its own state between drawings, and reads all other data from {@link Page.live}. */
export interface Screen {
  /** The title of the browser window. The view draws its own heading. */
  readonly title: string;
  /** The paths of the calls whose answers the view shows at the moment. */
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
  /** What the server says about itself. Undefined until the server has answered. */
  readonly about: About | undefined;
  /** The current time, in milliseconds since the epoch. */
  readonly now: number;
  /** Whether the view is still open. */
  isShown(screen: Screen): boolean;
  /** Draws the page again. */
  redraw(): void;
  go(route: Route): void;
  /** Like `go`, but adds no entry to the browser's history. For a search that follows the user's typing. */
  replace(route: Route): void;
  /** Shows the outcome of an action. Screen readers read the text aloud. */
  say(text: string, tone: 'ok' | 'bad'): void;
  open(dialog: Dialog): void;
  /** Whether this dialog is open. */
  shows(dialog: Dialog): boolean;
  /** @param only the dialog to close. Any other dialog, which the user may have opened meanwhile, stays open. */
  close(only?: Dialog): void;
}
