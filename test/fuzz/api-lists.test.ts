import fc from 'fast-check';
import { expect, it } from 'vitest';
import { send, startWith } from './api.ts';
import { fuzz } from './fuzz.ts';
import { anObject, asSent, nearly, stringText, valueText } from './json-texts.ts';

const post = (path: string, body: string, method = 'POST') => send(`/v1/lists${path}`, { method, body });

const jobs = (payload: fc.Arbitrary<string>) =>
  fc
    .array(fc.oneof({ weight: 6, arbitrary: nearly({ payload }, 30) }, { weight: 1, arbitrary: valueText }), {
      maxLength: 4,
    })
    .map((all) => `[${all.join(' , ')}]`);
const adding = (payload: fc.Arbitrary<string>) => nearly({ jobs: jobs(payload), token: stringText }, 30);

it('jobs are stored and shown as sent, or refused with a reason and none is added', () =>
  fuzz(asSent(adding(anObject)), ['200', '400'], async (written) => {
    // As it arrives: half a surrogate pair has no bytes.
    const body = written.toWellFormed();
    await startWith();
    await post('', '{"id":"f"}');
    const before = (await send('/v1/lists/f')).text;
    const { status } = await post('/f/jobs', body);
    const page = (await send('/v1/lists/f/jobs')).text;
    const shown = JSON.parse(page).jobs as { payload: unknown }[];
    if (status >= 400) {
      expect([(await send('/v1/lists/f')).text, shown]).toEqual([before, []]);
      return String(status);
    }
    const sent = JSON.parse(body.replace(/^\ufeff/, '')).jobs as { payload: unknown }[];
    expect(shown.map(({ payload }) => payload)).toEqual(sent.map(({ payload }) => payload));
    // A worker that claims the jobs gets the same text.
    const claimed = (await post('/f/claims', '{"count":1000,"leaseSeconds":1}')).text;
    const texts = (text: string) =>
      [...text.matchAll(/"payload":(.*?)(?=\},\{"token"|\}\](?:,|\}))/gs)].map(([, raw]) => raw);
    for (const raw of texts(claimed)) expect(body).toContain(raw);
    return String(status);
  }));

const opening = nearly(
  {
    id: fc.constantFrom('"g"', '"g"', '"f"', '"~f"', '"a:b"'),
    operation: fc.constantFrom('"ship"', '"ship"', '"plain"', '"plain"', '"fly"', '"__proto__"', 'null'),
    name: fc.oneof(fc.constant('"k"'), stringText),
    maxDeliveries: fc.constantFrom('1', '5', '7', '100', '101', '"1"'),
  },
  30,
);
const amount = fc.constantFrom('1', '7', '0', '101', '100', '0.5', '1e2', '"1"', '1e400', '-0', 'null', '1e-300');
const triggering = fc.oneof(nearly({ count: amount }, 30), nearly({ percent: amount, token: stringText }, 30));
const claiming = nearly(
  {
    count: amount,
    leaseSeconds: amount,
    claimId: fc.constantFrom('"a"', '"mine"', '"a.b"', '"a.0.1.abcdef"', '""', '7'),
    holder: fc.oneof(fc.constant('"worker-3"'), stringText),
  },
  30,
);
const result = nearly(
  {
    token: fc.constantFrom('0', '1', '2', '3', '"0"', '-0', '1e0'),
    status: fc.constantFrom('"succeeded"', '"failed"', '"lost"'),
    result: valueText,
    error: fc.constantFrom('{"code":"c","message":"m"}', '{}', '"c"'),
  },
  30,
);
const completing = nearly({ jobs: fc.array(result, { maxLength: 3 }).map((all) => `[${all.join(',')}]`) }, 30);
const attempt = nearly(
  {
    token: fc.constantFrom('0', '1', '2', '3', '"0"', '-0', '1e0'),
    error: fc.constantFrom('{"code":"c","message":"m"}', '{}', '"c"'),
  },
  30,
);
const releasing = nearly({ attempted: fc.array(attempt, { maxLength: 3 }).map((all) => `[${all.join(',')}]`) }, 30);
const about = (path: string, body: fc.Arbitrary<string>, method = 'POST') =>
  asSent(body).map((each) => [path, each, method] as const);
const nothing = fc.constantFrom('', '{}', '{"a":1}', '[]');
const aboutLists = fc.oneof(
  { weight: 10, arbitrary: about('', opening) },
  about('/f/jobs', adding(fc.constantFrom('{}', '{"depot":"MUC"}', '{"depot":[]}'))),
  about('/f/triggers', triggering),
  about('/f/claims', claiming),
  about('/f/claims/MINE', nearly({ leaseSeconds: amount }, 30), 'PUT'),
  about('/f/claims/MINE/complete', completing),
  about('/f/claims/MINE/release', releasing),
  about('/f/claims/MINE', nothing, 'DELETE'),
  { weight: 4, arbitrary: about('/f/seal', nothing) },
  { weight: 4, arbitrary: about('/f/cancel', nothing) },
  about('/f', nothing, 'DELETE'),
);

it('a body on lists is carried out, or is refused without effect', () =>
  fuzz(
    // Few requests are refused on an open list, so the other states are more frequent.
    fc.tuple(aboutLists, fc.constantFrom('open', 'seal', 'cancel', 'seal', 'cancel')),
    ['200', '201', '400', '409'],
    async ([[path, body, method], state]) => {
      await startWith();
      await post('', '{"id":"f","operation":"ship"}');
      const payloads = [0, 1, 2, 3, 4].map((n) => `{"payload":{"depot":"MUC","n":${n}}}`);
      await post('/f/jobs', `{"jobs":[${payloads.join(',')}],"token":"first"}`);
      const mine = JSON.parse((await post('/f/claims', '{"count":3,"leaseSeconds":60,"claimId":"mine"}')).text).claimId;
      if (state !== 'open') await post(`/f/${state}`, '');
      const seen = async () => [(await send('/v1/lists/f')).text, (await send('/v1/lists/f/jobs')).text];
      const before = await seen();
      const { status } = await post(path.replace('MINE', mine), body, method);
      if (status >= 400) expect(await seen()).toEqual(before);
      return String(status);
    },
  ));
