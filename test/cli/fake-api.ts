/** An API that answers as a test says, and remembers what it was asked. */
import { bodyOf, type Served, serve } from './aws.ts';

export interface FakeApi extends Served {
  /** Method, path and body of each request. */
  readonly asked: string[];
  /** What it answers, by method and path without the query; an answer of a list is given one after the other. */
  answer(answers: Readonly<Record<string, object | readonly object[]>>): void;
}

export const fakeApi = async (): Promise<FakeApi> => {
  const asked: string[] = [];
  let answers = new Map<string, object[]>();
  const served = await serve(async (request, response) => {
    const { method = '', url = '' } = request;
    asked.push(`${method} ${url} ${await bodyOf(request)}`.trim());
    const left = answers.get(`${method} ${url.split('?')[0]}`) ?? [{}];
    response.writeHead(200, { 'content-type': 'application/json' });
    // The last one is for the rest.
    response.end(JSON.stringify(left.length > 1 ? left.shift() : left[0]));
  });
  return {
    ...served,
    url: `${served.url}/v1`,
    asked,
    answer: (next) => {
      asked.length = 0;
      answers = new Map(Object.entries(next).map(([name, each]) => [name.replace(' /', ' /v1/'), [each].flat()]));
    },
  };
};
