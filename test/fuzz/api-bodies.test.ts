import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { config, kit, send, startWith } from './api.ts';
import { fuzz } from './fuzz.ts';
import { anObject, asSent, nameText, nearly, objectText, space, stringText, valueText } from './json-texts.ts';

const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,20}$/).map((text) => JSON.stringify(text));
const task = fc.oneof(
  { weight: 4, arbitrary: nearly({ operation: fc.constant('"plain"'), payload: anObject }, 30) },
  {
    weight: 2,
    arbitrary: nearly(
      { operation: fc.constant('"ship"'), payload: nearly({ depot: stringText, rest: valueText }), id },
      30,
    ),
  },
);
const tasks = fc
  .tuple(fc.array(task, { maxLength: 4 }), space)
  .map(([all, gap]) => `[${gap}${all.join(`,${gap}`)}${gap}]`);
const text = asSent(fc.oneof({ weight: 2, arbitrary: task }, { weight: 3, arbitrary: nearly({ tasks }, 30) }));

/** As bytes: whole, with one byte changed, with a byte order mark, in another encoding, or random. */
const bytes = fc.oneof(
  { weight: 12, arbitrary: text.map((each) => Buffer.from(each)) },
  {
    weight: 2,
    arbitrary: fc.tuple(text, fc.nat(9_999), fc.nat(255)).map(([each, at, byte]) => {
      const buffer = Buffer.from(each);
      if (buffer.length > 0) buffer[at % buffer.length] = byte;
      return buffer;
    }),
  },
  { weight: 1, arbitrary: text.map((each) => Buffer.from(`\ufeff${each}`)) },
  { weight: 1, arbitrary: text.map((each) => Buffer.from(`\ufeff${each}`, 'utf16le')) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each)) },
);
const contentType = fc.constantFrom(
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  '',
);

it('a body of tasks is accepted whole and unchanged, or refused with a reason', () =>
  fuzz(fc.tuple(bytes, contentType), ['taken', 'refused'], async ([body, type]) => {
    await startWith();
    const answer = await send('/v1/tasks', {
      method: 'POST',
      body: new Uint8Array(body),
      headers: type ? { 'content-type': type } : {},
    });
    const sent = [...kit.sent.registered];
    if (answer.status !== 202) {
      expect([answer.status, sent]).toEqual([400, []]);
      return 'refused';
    }
    const { ids } = JSON.parse(answer.text) as { ids: string[] };
    const parsed = sent.map((each) => parseRegisterMessage(config, { messageId: 'unused', body: each }));
    expect(parsed.map((each) => each.ok && each.value.id)).toEqual(ids);
    // Throws if it is not UTF-8: a body with replaced characters would not be the one that was sent.
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(body);
    for (const each of parsed)
      if (!each.ok || !decoded.includes(each.value.payload)) throw new Error(`the API sent ${JSON.stringify(each)}`);
    // The API's answer is JSON, and contains the payload's own text.
    await startWith(...sent);
    const [first] = parsed;
    if (first?.ok) {
      const shown = await send(`/v1/tasks/${encodeURIComponent(first.value.id)}`);
      expect([shown.status, JSON.parse(shown.text).id]).toEqual([200, first.value.id]);
      expect(shown.text).toContain(`"payload":${first.value.payload}`);
    }
    return 'taken';
  }));

const known = fc.constantFrom('"ship/depot=MUC"', '"ship/depot=MUC"', '"ship/depot=none"', '"ship"', '"\\ud800"');
const flush = asSent(
  nearly({ target: fc.oneof({ weight: 5, arbitrary: known }, { weight: 1, arbitrary: stringText }) }, 30),
);

it('a body that names a Target flushes it, or is refused with a reason', () =>
  fuzz(
    fc.oneof(
      { weight: 4, arbitrary: flush },
      { weight: 1, arbitrary: fc.tuple(nameText, valueText).map((member) => objectText([member])) },
    ),
    ['202', '400', '404'],
    async (body) => {
      await startWith('{"operation":"ship","payload":{"depot":"MUC"}}');
      const { status } = await send('/v1/targets/flush', { method: 'POST', body });
      return String(status);
    },
  ));

const opening = nearly(
  {
    id: fc.constantFrom('"g"', '"g"', '"f"', '"a:b"'),
    userKey: fc.oneof(fc.constant('"k"'), stringText),
    failFast: fc.constantFrom('{"count":1}', '{"share":0.5}', '{"share":1}', '{"count":-1}'),
  },
  30,
);
const adding = nearly(
  { count: fc.constantFrom('1', '451', '0', '1e2', '"1"', '1e400', 'null'), token: stringText },
  30,
);
const ack = fc.oneof(
  fc.constantFrom(
    '"f:0:0"',
    '"f:0:450"',
    '"f:1:0"',
    '"h:0:0"',
    '"f:00:0"',
    '"f:0"',
    '{"item":"f:0:1","outcome":"failed"}',
  ),
  valueText,
);
const acking = nearly({ items: fc.array(ack, { maxLength: 4 }).map((all) => `[${all.join(',')}]`) }, 30);
const about = (path: string, body: fc.Arbitrary<string>) => asSent(body).map((each) => [path, each] as const);
const aboutFanOuts = fc.oneof(
  { weight: 3, arbitrary: about('', opening) },
  { weight: 2, arbitrary: about('/f/items', adding) },
  { weight: 2, arbitrary: about('/acks', acking) },
  { weight: 1, arbitrary: about('/f/seal', fc.constantFrom('', '{}', '{"a":1}', '[]')) },
);

it('a body on fan-outs is carried out, or is refused without effect', () =>
  fuzz(fc.tuple(aboutFanOuts, fc.boolean()), ['200', '201', '400', '409'], async ([[path, body], isSealed]) => {
    await startWith();
    const post = (where: string, what: string) => send(`/v1/fan-outs${where}`, { method: 'POST', body: what });
    await post('', '{"id":"f"}');
    await post('/f/items', '{"count":2,"token":"first"}');
    if (isSealed) await post('/f/seal', '');
    const stored = (await send('/v1/fan-outs/f')).text;
    const { status } = await post(path, body);
    if (status >= 400) expect((await send('/v1/fan-outs/f')).text).toBe(stored);
    return String(status);
  }));
