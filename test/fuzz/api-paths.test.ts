import fc from 'fast-check';
import { it } from 'vitest';
import { aNode, fleet } from '../factories/fleets.ts';
import { kit, send, startWith } from './api.ts';
import { fuzz } from './fuzz.ts';

const PLACES =
  '/v1 /v1/tasks /v1/batches /v1/targets /v1/targets/flush /v1/tasks/known /v1/operations /v1/operations/ship /v1/fan-outs /v1/fan-outs/known /v1/lists /v1/lists/known /v1/lists/known/claims /v1/audit /v1/fleets /v1/fleets/known /v1/fleets/known/nodes /v1/fleets/known/partitions /'.split(
    ' ',
  );
const segment = fc.oneof(
  fc.constantFrom(
    ...'known failed items seal acks jobs cancel triggers drain move claims complete release .. . %2e%2e % %FF %00 %0d%0a __proto__ constructor * :id ship%2Fdepot=MUC%231%231'.split(
      ' ',
    ),
  ),
  fc.constantFrom('', 'a'.repeat(3_000)),
  fc.string({ unit: 'binary', maxLength: 10 }).map((each) => encodeURIComponent(each.toWellFormed())),
  fc.string({ maxLength: 6 }).map((each) => each.replaceAll(/[?#\s\\]/g, '')),
);
const pair = fc
  .tuple(
    fc.constantFrom(
      'target',
      'status',
      'limit',
      'cursor',
      'from',
      'operation',
      'prefix',
      '__proto__',
      'constructor',
      '',
    ),
    fc.oneof(
      fc.constantFrom(...'ship/depot=MUC ship plain failed created 1 100 101 -1 1e2 NaN ship.e30 e30 % %FF'.split(' ')),
      fc.string({ unit: 'binary', maxLength: 8 }).map((each) => encodeURIComponent(each.toWellFormed())),
    ),
  )
  .map(([name, value]) => `${name}=${value}`);
const KNOWN = [
  '/v1/targets?operation=ship',
  '/v1/tasks/known?',
  '/v1/tasks?target=ship/depot=MUC',
  '/v1/batches?target=ship',
  '/v1/batches?target=ship/depot=MUC',
  '/v1/tasks?status=failed',
  '/v1/failures?',
  '/v1/queues?',
  '/v1/fan-outs?',
  '/v1/lists?',
  '/v1/fan-outs/known?',
  '/v1/fan-outs/known/failed?',
  '/v1/fan-outs/known/items?status=pending&',
  '/v1/lists/known?',
  '/v1/lists/known/jobs?',
  '/v1/fleets/known?',
];
const path = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...KNOWN), fc.array(pair, { maxLength: 2 }))
      .map(([place, pairs]) => [place, ...pairs].join('&')),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...PLACES), fc.array(segment, { maxLength: 2 }), fc.array(pair, { maxLength: 3 }))
      .map(([place, segments, pairs]) => `${[place, ...segments].join('/')}?${pairs.join('&')}`),
  },
);
const method = fc.oneof(
  { weight: 3, arbitrary: fc.constant('GET') },
  { weight: 1, arbitrary: fc.constantFrom(...'HEAD POST PUT DELETE PATCH OPTIONS PROPFIND get'.split(' ')) },
);

it('every path, with every method and query, is answered', () =>
  fuzz(fc.tuple(method, path), ['200', '400', '404', '405'], async ([how, where]) => {
    await startWith('{"operation":"ship","id":"known","payload":{"depot":"MUC"}}');
    for (const kind of ['fan-outs', 'lists']) await send(`/v1/${kind}`, { method: 'POST', body: '{"id":"known"}' });
    await kit.fleets.join(fleet('known'), aNode());
    const { status } = await send(where, { method: how });
    // A POST without a body opens a fan-out or a list, which rarely happens here.
    return status === 201 ? '200' : String(status);
  }));
