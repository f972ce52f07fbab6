import { describe, expect, it } from 'vitest';
import type { RequestFormat } from '../../src/domain/config/http-format.ts';
import { writeItems } from '../../src/domain/downstream/request-format.ts';
import { id } from '../factories/factories.ts';

const ITEM: RequestFormat['item'] = { from: '', at: '', id: null, with: {}, line: null };
const format = (fields: Partial<RequestFormat>, item: Partial<RequestFormat['item']> = {}): RequestFormat => ({
  as: 'array',
  items: null,
  with: {},
  contentType: null,
  ...fields,
  item: { ...ITEM, ...item },
});
const items = (...payloads: readonly string[]) => payloads.map((payload, n) => ({ id: id(`t${n}`), payload }));

describe('the items of a call', () => {
  it('are written as an array, exactly as they were sent', () => {
    const written = writeItems(format({}), items('{"n": 12345678901234567890, "2":1,"1":2}', '{}'));
    expect(written).toMatchObject({
      body: '[{"n": 12345678901234567890, "2":1,"1":2},{}]',
      contentType: 'application/json',
    });
  });

  it('are written into an object, beside constants', () => {
    const as = { as: 'object', items: '/data/records', with: { allOrNone: false, data: { v: 1 } } } as const;
    expect(writeItems(format(as), items('{"a":1}')).body).toBe(
      '{"allOrNone":false,"data":{"v":1,"records":[{"a":1}]}}',
    );
  });

  it('are written as lines, whatever line breaks a payload has', () => {
    const { body, contentType } = writeItems(format({ as: 'ndjson' }), items('{\r\n "a": "x\\ny"\n}', '{"b":2}'));
    expect(body).toBe('{  "a": "x\\ny" }\n{"b":2}\n');
    expect(contentType).toBe('application/x-ndjson');
    expect(
      body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([{ a: 'x\ny' }, { b: 2 }]);
  });

  it('have a line before them if a bulk API needs one', () => {
    const line = { with: { create: { routing: 'x' } }, id: '/create/_id', from: null };
    expect(writeItems(format({ as: 'ndjson' }, { line }), items('{\n"a":1}', '{"b":2}')).body).toBe(
      '{"create":{"routing":"x","_id":"t0"}}\n{ "a":1}\n{"create":{"routing":"x","_id":"t1"}}\n{"b":2}\n',
    );
    const bare = { with: { index: {} }, id: null, from: null };
    expect(writeItems(format({ as: 'ndjson' }, { line: bare }), items('{}')).body).toBe('{"index":{}}\n{}\n');
    const keyed = { with: { index: {} }, id: '/index/_id', from: '/sku' };
    const written = writeItems(
      format({ as: 'ndjson' }, { line: keyed, from: '/doc' }),
      items('{"sku":7,"doc":{}}', '{"doc":{}}'),
    );
    expect(written.body).toBe('{"index":{"_id":7}}\n{}\n');
    expect(written.unfit.get(id('t1'))?.message).toContain('nothing at /sku');
  });

  it('are written as a form field, beside others', () => {
    const { body, contentType } = writeItems(
      format({ as: 'form', items: 'batch', with: { mode: 'fast', n: 2 } }),
      items('{"a":"ä&b"}'),
    );
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({ mode: 'fast', n: '2', batch: '[{"a":"ä&b"}]' });
    expect(contentType).toBe('application/x-www-form-urlencoded');
  });

  it('contain a part of the payload, the id of the task and constants, each at its place', () => {
    const { body } = writeItems(
      format(
        {},
        { from: '/contact', at: '/properties', id: '/meta/trace', with: { idProperty: 'email', meta: { v: 1 } } },
      ),
      items('{"list":"a","contact":{"email":"z@example.org"}}'),
    );
    expect(body).toBe('[{"idProperty":"email","meta":{"v":1,"trace":"t0"},"properties":{"email":"z@example.org"}}]');
  });

  it('replace a member that the payload has at the place of the id', () => {
    expect(writeItems(format({}, { id: '/custom_id' }), items('{"custom_id":"forged","a":1}')).body).toBe(
      '[{"custom_id":"t0","a":1}]',
    );
  });

  it('whose payload does not fit fail alone', () => {
    const { body, sent, unfit } = writeItems(
      format({}, { from: '/message', id: '/id' }),
      items('{"message":{"a":1}}', '{"other":1}', '{"message":"text"}'),
    );
    expect(body).toBe('[{"a":1,"id":"t0"}]');
    expect(sent.map((each) => each.id)).toEqual(['t0']);
    expect([...unfit]).toEqual([
      ['t1', { code: 'payload-unfit', message: expect.stringContaining('nothing at /message'), retriable: false }],
      ['t2', { code: 'payload-unfit', message: expect.stringContaining('no object'), retriable: false }],
    ]);
  });
});
