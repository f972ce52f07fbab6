/** Messages that are sent and accepted have to match the published schemas and the documentation. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { parseBatch } from '../../src/domain/batches/messages.ts';
import { type Ended, eventOf, leaving } from '../../src/domain/callbacks/event.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { printCall, printEvent } from '../../src/domain/downstream/downstream.ts';
import { readAnswer } from '../../src/domain/downstream/http-answer.ts';
import { eventOfEnd, eventOfNotice } from '../../src/domain/fan-outs/event.ts';
import type { FanOut } from '../../src/domain/fan-outs/fan-out.ts';
import { trackerOf } from '../../src/domain/lists/ids.ts';
import { parseRedrive } from '../../src/domain/register/redrive-message.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { printRejection } from '../../src/domain/register/rejection.ts';
import { BATCH_ANSWER, BATCH_CALL, BATCH_EVENT } from '../../tools/contract/downstream-call.ts';
import { CALLBACK_EVENT, EVENTS } from '../../tools/contract/events.ts';
import * as examples from '../../tools/contract/examples.ts';
import { type Json, jsonSchema } from '../../tools/contract/json-schema.ts';
import { REJECTED_MESSAGE } from '../../tools/contract/register-message.ts';
import { aCall, aConfig, anItem, aStored, batchId, id, NOW } from '../factories/factories.ts';
import { faultsOf, validator } from './ajv.ts';

/** Checks with a closed schema, so that an undescribed field is found. */
const faults = (schema: z.core.$ZodType, text: string): readonly string[] =>
  faultsOf(validator(jsonSchema(schema, { closed: true })), JSON.parse(text));

describe('the published examples', () => {
  const parsed = parseConfig(examples.configFile);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const config = parsed.value;

  it('are accepted by Groupage', () => {
    const { messageId, body, errors } = examples.rejectedMessage;
    const taken = { messageId, body: JSON.stringify(examples.registerMessage) };
    expect(parseRegisterMessage(config, taken)).toMatchObject({ ok: true, value: { id: 'order-7', priority: 5 } });
    expect(parseRegisterMessage(config, { messageId, body })).toEqual({ ok: false, problems: errors });
    expect(parseRedrive(examples.redriveMessage)).toEqual({ ok: true, value: examples.redriveMessage });
    expect(parseBatch(JSON.stringify(examples.jobReport))).toEqual({
      kind: 'completion',
      batchId: examples.jobReport.batchId,
      results: JSON.stringify(examples.jobReport.results),
    });
  });

  it('are parsed as intended if they are answers', () => {
    const items = examples.batchCall.items.map((item) => ({ id: id(item.id), payload: '{}' }));
    const read = (status: number, answer: object) =>
      readAnswer({ status, contentType: null, retryAfter: undefined, body: JSON.stringify(answer) }, items, null);
    expect(read(200, examples.resultsAnswer)).toMatchObject({ kind: 'results', foreign: 0 });
    expect(read(200, examples.inputsAnswer)).toMatchObject({ kind: 'all-succeeded', inputs: expect.any(String) });
    expect(read(202, examples.pendingAnswer)).toEqual({ kind: 'pending' });
  });

  it('contain those of the documentation', () => {
    const pages = ['register-message', 'downstream-call', 'events', 'schemas', 'http-api', 'local']
      .map((name) => readFileSync(join(import.meta.dirname, `../../docs/reference/${name}.md`), 'utf8'))
      .join('\n');
    const shown = [...pages.matchAll(/^```json\n(\{.*?)^```$/gms)].map(([, json = '']) => JSON.parse(json) as Json);
    expect(shown).toHaveLength(7);
    for (const each of shown) expect(Object.values(examples)).toContainEqual(each);
  });
});

describe('a message to a downstream', () => {
  const plain = aCall({ items: ['a', 'b'].map((name) => ({ id: id(name), payload: '{"depot":"MUC"}' })) });
  const merged = { ...plain, inputs: ['{"id":"x"}', '7', '"y"'] };

  it.each([
    ['of single tasks', plain],
    ['of merged ones', merged],
  ])('matches the schema of its call or event: %s', (_, call) => {
    expect(faults(BATCH_CALL, printCall(call))).toEqual([]);
    expect(faults(BATCH_EVENT, printEvent(call))).toEqual([]);
    // Neither schema accepts the other message.
    expect(faults(BATCH_CALL, printEvent(call))).not.toEqual([]);
    expect(faults(BATCH_EVENT, printCall(call))).not.toEqual([]);
  });

  it('may be answered in the described ways only', () => {
    for (const answer of ['{}', '{"results":[]}', '{"inputs":[]}', '{"results":[{"id":"a","status":"retry"}]}'])
      expect(faults(BATCH_ANSWER, answer)).toEqual([]);
    for (const odd of ['[]', 'null', '{"results":{}}', '{"results":[{"id":"a"}]}', '{"inputs":null}', '{"pending":1}'])
      expect([odd, faults(BATCH_ANSWER, odd)]).not.toEqual([odd, []]);
  });
});

it('a rejection matches its schema, also with a cut body or many reasons', () => {
  const problem = { path: 'payload', reason: 'is odd' };
  const rejection = { messageId: 'm', body: '{}', problems: [problem], at: NOW };
  const many = Array.from({ length: 21 }, () => problem);
  for (const each of [rejection, { ...rejection, queue: 'callback' as const }, { ...rejection, problems: many }])
    expect(faults(REJECTED_MESSAGE, printRejection(each))).toEqual([]);
  const large = printRejection({ ...rejection, body: '"'.repeat(1_000_000) });
  expect(large).toContain('bodyIsCut');
  expect(faults(REJECTED_MESSAGE, large)).toEqual([]);
});

describe('an event to a destination', () => {
  /** The type of a sent event, which is checked against its schema. */
  const told = (event: string, maxBytes = 1_000_000) => {
    const { text, type } = leaving(event, 'Groupage-prod-Flow', maxBytes);
    expect(Object.keys(EVENTS)).toContain(type);
    expect(faults(EVENTS[type as keyof typeof EVENTS], text)).toEqual([]);
    expect(faults(CALLBACK_EVENT, text)).toEqual([]);
    return type;
  };
  const finished = { batchId: batchId('b'), attempts: 2, finishedAt: NOW };
  const ofTask = (state: Ended, maxBytes?: number) =>
    told(eventOf(aStored(state, { correlationId: 'c', fanOutItem: anItem('f:0:0') }), state), maxBytes);

  it('matches its schema for tasks', () => {
    const error = { code: 'odd', message: 'why', retriable: true };
    expect(ofTask({ status: 'failed', error, ...finished })).toBe('groupage.task.failed');
    expect(ofTask({ status: 'failed', error, attempts: 0, finishedAt: NOW })).toBe('groupage.task.failed');
    for (const more of [{}, { result: '[1.0]' }, { resultOmitted: 300_000 }, { supersededBy: id('b') }])
      expect(ofTask({ status: 'succeeded', ...finished, ...more })).toBe('groupage.task.succeeded');
    const result = JSON.stringify('x'.repeat(2_000));
    expect(ofTask({ status: 'succeeded', ...finished, result }, 1_500)).toBe('groupage.task.succeeded');
  });

  it('matches its schema for fan-outs and deferred lists', () => {
    const base = aConfig();
    const config = {
      ...base,
      fanOuts: { ...base.fanOuts, callback: 'ops' },
      lists: { ...base.lists, callback: 'ops' },
    };
    const opened = { createdAt: NOW, total: 3, userKey: 'k' } as FanOut;
    const ofEnd = (name: string, status: 'complete' | 'expired', because: 'all-done' | 'too-many-failed' | 'idle') =>
      told(
        eventOfEnd(config, { ...opened, id: name as FanOut['id'] }, status, { at: NOW, because, failed: 1 })?.event ??
          '',
      );
    expect(ofEnd('f', 'complete', 'all-done')).toBe('groupage.fan-out.completed');
    expect(ofEnd('f', 'complete', 'too-many-failed')).toBe('groupage.fan-out.completed');
    expect(ofEnd('f', 'expired', 'idle')).toBe('groupage.fan-out.expired');
    const noted = { ...opened, id: 'f', firstFailure: { item: 'f:0:1', at: NOW }, allSucceededAt: NOW } as FanOut;
    for (const notice of ['first-failure', 'all-succeeded'] as const)
      expect(told(eventOfNotice(config, noted, notice)?.event ?? '')).toBe(`groupage.fan-out.${notice}`);
    expect(ofEnd(trackerOf('l' as never), 'complete', 'all-done')).toBe('groupage.list.completed');
  });
});
