import { expect, it } from 'vitest';
import { type FlowInput, stations } from '../../../tools/console/page/src/model/flow.ts';
import { layOut } from '../../../tools/console/page/src/model/flow-layout.ts';
import { operationRows, operationState } from '../../../tools/console/page/src/model/operation-rows.ts';
import { targetState } from '../../../tools/console/page/src/model/words.ts';
import { ago, anOperation, aSeries, aTarget, metrics, NOW, queues } from './kit.ts';

const NOTHING: FlowInput = { queues: undefined, metrics: undefined, targets: undefined, hasMore: false };
const station = (id: string, input: Partial<FlowInput>) =>
  stations({ ...NOTHING, ...input }).find((each) => each.id === id);

it('every station is drawn without a number before the data arrive', () => {
  expect(stations(NOTHING).every(({ value }) => value === undefined)).toBe(true);
});

it('a queue shows its messages, and is red while it has dead letters', () => {
  expect(station('group', { queues: queues() })).toMatchObject({
    value: '1',
    detail: '2 in flight · 3 delayed',
    tone: 'busy',
  });
  expect(station('group', { queues: queues({ group: 1 }) })?.tone).toBe('bad');
  expect(station('dead-letters', { queues: queues({ group: 1, batch: 4 }) })).toMatchObject({
    value: '5',
    detail: 'of group, batch',
    route: { view: 'failures' },
  });
  expect(station('rejected', { queues: queues({}, 2) })).toMatchObject({
    value: '2',
    tone: 'warn',
    route: { view: 'rejected' },
  });
});

it('a function shows its rate, and the downstream shows errors', () => {
  const view = metrics(
    aSeries('DownstreamCalls', [0, 6]),
    aSeries('DownstreamErrors', [0, 2]),
    aSeries('DownstreamLatency', [0, 400]),
  );
  expect(station('batch-handler', { metrics: view })).toMatchObject({ value: '6.0', unit: 'calls / min' });
  expect(station('downstream', { metrics: view })).toMatchObject({
    value: '200 ms',
    tone: 'bad',
    detail: '2.0 errors / min',
  });
});

it('waiting tasks are summed, as a lower bound if there are more Targets', () => {
  const targets = [aTarget({ waiting: 3 }), aTarget({ waiting: 4 }), aTarget()];
  expect(station('waiting', { targets })).toMatchObject({ value: '7', detail: 'in 2 Targets' });
  expect(station('waiting', { targets, hasMore: true })).toMatchObject({ value: '≥ 7', detail: 'in ≥ 2 Targets' });
  expect(station('waiting', { targets: [aTarget()], hasMore: true })).toMatchObject({
    value: '?',
    detail: 'in Targets not read here',
  });
});

it('at any width every station is inside the drawing and overlaps no other', () => {
  for (const width of [320, 719, 720, 1_240]) {
    const drawing = layOut(width);
    const places = stations(NOTHING).map(({ id }) => drawing.places.get(id));
    for (const place of places) {
      expect(place).toBeDefined();
      if (!place) continue;
      expect(place.x + place.width).toBeLessThanOrEqual(drawing.width);
      expect(place.y + place.height).toBeLessThanOrEqual(drawing.height);
      const upon = places.filter(
        (other) =>
          other &&
          other.x < place.x + place.width &&
          place.x < other.x + other.width &&
          other.y < place.y + place.height &&
          place.y < other.y + other.height,
      );
      expect(upon).toEqual([place]);
    }
  }
});

it('an operation has totals, and a share of saved calls once a task has ended', () => {
  const totals = {
    operation: 'ship',
    tasksRegistered: 12,
    tasksSucceeded: 8,
    tasksFailed: 2,
    batches: 2,
    calls: 2,
    callsSaved: 8,
  };
  const view = { ...metrics(aSeries('TasksRegistered', [12])), totals: { since: 0, operations: [totals] } };
  const targets = new Map([['ship', { targets: [aTarget({ waiting: 5 })], cursor: 'more' }]]);
  const [row, other] = operationRows([anOperation(), anOperation({ operation: 'sell' })], targets, view);
  expect(row).toMatchObject({
    waiting: { tasks: 5, isAtLeast: true },
    savedShare: 0.8,
    totals,
    rates: { registered: 12, ended: 0 },
  });
  expect(other).toMatchObject({ waiting: undefined, savedShare: undefined, totals: undefined });
});

it('the state names what blocks an operation or a Target, the widest cause first', () => {
  const pause = { by: 'person', since: ago(1) } as const;
  expect(operationState(anOperation({ circuit: 'open', paused: pause })).word).toBe('circuit open');
  expect(operationState(anOperation({ paused: pause })).word).toBe('paused');
  expect(operationState(anOperation({ waitingTargets: 1 })).word).toBe('no free slot');
  expect(operationState(anOperation({ circuit: null })).word).toBe('working');
  const leader = { fence: 3, lockedUntil: ago(-30) };
  const word = (fields: Parameters<typeof aTarget>[0]) => targetState(aTarget(fields), NOW).word;
  expect(word({ paused: pause, waiting: 1 })).toBe('paused');
  expect(word({ openBatch: 'x', waiting: 1 })).toBe('sealing');
  expect(word({ blocked: { since: ago(1) }, waiting: 1 })).toBe('blocked');
  expect(word({ waiting: 1, oldestAt: ago(40), leader })).toBe('filling');
  expect(word({ waiting: 1, oldestAt: ago(40), leader, waitsForLimit: true })).toBe('at a limit');
  expect(word({ waiting: 1, oldestAt: ago(1) })).toBe('waiting');
  expect(word({ waiting: 1, oldestAt: ago(40) })).toBe('no leader');
  expect(word({ inFlight: ['x'] })).toBe('in batches');
  expect(word({})).toBe('idle');
});
