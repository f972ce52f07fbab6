/** Responses of `/about` and `/openapi.json`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import { describeCalls, text } from '../shared/answer-schemas.ts';
import { ABOUT_CALLS, OPENAPI_CALLS } from './requests.ts';

export const ABOUT_DESCRIBED = [
  ...describeCalls(ABOUT_CALLS, {
    getAbout: {
      summary: 'Gets the release of Groupage',
      answers: {
        200: {
          description: 'The release.',
          schema: z
            .object({ version: text('The semantic version, e.g. `0.2.0`.') })
            .check(z.meta({ id: 'About', description: 'A release.' })),
        },
      },
    },
  }),
  ...describeCalls(OPENAPI_CALLS, {
    getOpenApi: {
      summary: 'Gets this document, with the address of the request as its server',
      answers: {
        200: {
          description: 'OpenAPI 3.1.',
          schema: z
            .looseObject({ openapi: text('3.1.0.') })
            .check(z.meta({ id: 'OpenApi', description: 'An OpenAPI document.' })),
        },
      },
    },
  }),
];
