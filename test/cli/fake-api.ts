/** An API that gives the answers of a test, and records its requests. */
import { bodyOf, type Served, serve } from './aws.ts';

/** An answer with a problem. */
export class ApiError {
  readonly status: number;
  readonly problem: object;
  constructor(status: number, problem: object) {
    this.status = status;
    this.problem = problem;
  }
}

export interface FakeApi extends Served {
  /** Method, path and body of each request. */
  readonly asked: string[];
  /** Sets the answers, by method and path without query. The answers of a list are given one after the other. */
  answer(answers: Readonly<Record<string, object | readonly object[]>>): void;
}

/** As an answer: the request is never answered. */
export const NEVER = {};

export const fakeApi = async (): Promise<FakeApi> => {
  const asked: string[] = [];
  let answers = new Map<string, object[]>();
  const served = await serve(async (request, response) => {
    const { method = '', url = '' } = request;
    asked.push(`${method} ${url} ${await bodyOf(request)}`.trim());
    const left = answers.get(`${method} ${url.split('?')[0]}`) ?? [{}];
    // The last answer is given to all further requests.
    const answer = left.length > 1 ? left.shift() : left[0];
    if (answer === NEVER) return;
    const [status, body] = answer instanceof ApiError ? [answer.status, answer.problem] : [200, answer];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
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
