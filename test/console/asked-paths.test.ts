import { describe, expect, it } from 'vitest';
import { PATHS_MAX, problemsWith } from '../../tools/console/server/live.ts';

describe('the calls that a page may request', () => {
  it('are paths of the API, with any query', () => {
    expect(
      problemsWith([
        '/v1/operations',
        '/v1/targets?limit=50&prefix=ship%2Fdepot',
        "/v1/batches?target=ship/depot='x'(y)",
        '/v1/batches/ship%2Fdepot%3DA%231%231',
      ]),
    ).toEqual([]);
    expect(problemsWith([])).toEqual([]);
  });

  it.each([
    '/console/about',
    'v1/tasks',
    '//evil.example/v1/tasks',
    'http://evil.example/v1/',
    '/v1/../console/about',
    '/v1/%2e%2e/x',
    '/v1/..\\..\\x',
    '/v1/tasks#x',
    '/v2/tasks',
    '',
  ])('do not lead out of the API: %s', (path) => {
    expect(problemsWith([path])).toEqual([{ path: 'get', reason: expect.any(String) }]);
  });

  it('are limited in number and length', () => {
    const many = Array.from({ length: PATHS_MAX + 1 }, (_, n) => `/v1/tasks/${n}`);
    expect(problemsWith(many.slice(1))).toEqual([]);
    expect(problemsWith(many)).toEqual([{ path: 'get', reason: expect.stringContaining(String(PATHS_MAX)) }]);
    expect(problemsWith([`/v1/tasks/${'x'.repeat(2_000)}`])).toHaveLength(1);
  });
});
