import { expect, it } from 'vitest';
import { href, parseRoute, type Route } from '../../../tools/console/page/src/base/router.ts';

const ROUTES: readonly Route[] = [
  { view: 'overview' },
  { view: 'operation', name: 'report-flights' },
  { view: 'targets' },
  { view: 'targets', operation: 'ship', search: 'carrier=D&H L?', cursor: 'a/b+c==' },
  { view: 'target', target: 'ship/carrier=50%25/depot=M%20UC', cursor: 'x' },
  { view: 'batch', id: 'ship/depot=MUC#3#1' },
  { view: 'task', id: 'a:b@c.d_e-1' },
  { view: 'task', id: 'fresh', isNew: true },
  { view: 'operations' },
  { view: 'targets', sort: 'waiting' },
  { view: 'batches', operation: 'ship', which: 'under-way', state: 'open', fill: 'low', cursor: 'x' },
  { view: 'failures', cursor: 'next' },
  { view: 'rejected' },
  { view: 'given-up' },
  { view: 'fan-outs' },
  { view: 'fan-out', id: 'catalog' },
  { view: 'lists', cursor: 'next' },
  { view: 'list', id: 'night', from: '50' },
  { view: 'audit', cursor: 'next' },
  { view: 'fleets' },
  { view: 'fleet', id: 'flights' },
  { view: 'limits' },
  { view: 'limit', name: 'rate:ship', key: 'account=17/region=eu', cursor: 'next' },
  { view: 'search', text: 'D&H #1/2 ü' },
];

it('every address leads back to its view, with any characters in its ids', () => {
  for (const route of ROUTES) expect(parseRoute(href(route))).toEqual(route);
});

it('an invalid address has a view of its own', () => {
  expect(parseRoute('')).toEqual({ view: 'overview' });
  for (const hash of ['#/nowhere', '#/tasks/a/b', '#/tasks/%E0%A4%A', '#/fleets/a/b/c'])
    expect(parseRoute(hash)).toMatchObject({ view: 'unknown' });
});
