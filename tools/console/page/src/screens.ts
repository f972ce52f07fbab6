/** The view of each address. */
import { html } from 'lit';
import { href, type Route } from './base/router.ts';
import type { Page, Screen } from './base/screen.ts';
import { auditScreen } from './views/audit.ts';
import { batchScreen } from './views/batch.ts';
import { batchesScreen } from './views/batches.ts';
import { failuresScreen } from './views/failures.ts';
import { fanOutScreen } from './views/fan-out.ts';
import { fanOutsScreen } from './views/fan-outs.ts';
import { fleetScreen } from './views/fleet.ts';
import { fleetsScreen } from './views/fleets.ts';
import { limitScreen } from './views/limit.ts';
import { limitsScreen } from './views/limits.ts';
import { listScreen } from './views/list.ts';
import { listsScreen } from './views/lists.ts';
import { operationScreen } from './views/operation.ts';
import { operationsScreen } from './views/operations.ts';
import { overviewScreen } from './views/overview.ts';
import { rejectedScreen } from './views/rejected.ts';
import { searchScreen } from './views/search.ts';
import { targetScreen } from './views/target.ts';
import { targetsScreen } from './views/targets.ts';
import { taskScreen } from './views/task.ts';

export const screenOf = (page: Page, route: Route): Screen => {
  switch (route.view) {
    case 'overview':
      return overviewScreen(page);
    case 'operation':
      return operationScreen(page, route.name);
    case 'operations':
      return operationsScreen(page);
    case 'batches':
      return batchesScreen(page, route);
    case 'targets':
      return targetsScreen(page, route);
    case 'target':
      return targetScreen(page, route.target, route.cursor);
    case 'batch':
      return batchScreen(page, route.id);
    case 'task':
      return taskScreen(page, route.id, route.isNew === true);
    case 'failures':
      return failuresScreen(page, route.cursor);
    case 'rejected':
    case 'given-up':
      return rejectedScreen(page, route.view);
    case 'fan-outs':
      return fanOutsScreen(page, route.cursor);
    case 'fan-out':
      return fanOutScreen(page, route.id, route.cursor);
    case 'lists':
      return listsScreen(page, route.cursor);
    case 'list':
      return listScreen(page, route);
    case 'fleets':
      return fleetsScreen(page);
    case 'fleet':
      return fleetScreen(page, route.id);
    case 'limits':
      return limitsScreen(page);
    case 'limit':
      return limitScreen(page, route);
    case 'audit':
      return auditScreen(page, route.cursor);
    case 'search':
      return searchScreen(page, route.text);
    case 'unknown':
      return unknownScreen(route.path);
  }
};

const unknownScreen = (path: string): Screen => ({
  title: 'Not found',
  paths: () => [],
  render: () => html`
    <h1 tabindex="-1">This address does not exist</h1>
    <p><code>${path}</code> is not a view of the console. Go to <a href=${href({ view: 'overview' })}>the overview</a>, or find a task, a batch or a Target with the search above.</p>`,
});
