/** Responses of `/about` and `/openapi.json`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import { describeCalls, text } from '../shared/answer-schemas.ts';
import { ABOUT_CALLS, OPENAPI_CALLS } from './requests.ts';

export const ABOUT_DESCRIBED = [
  ...describeCalls(ABOUT_CALLS, {
    getAbout: {
      summary: 'Which release of Groupage answers',
      answers: {
        200: {
          description: 'The release.',
          schema: z
            .object({ version: text('By semantic versioning, e.g. `0.2.0`.') })
            .check(z.meta({ id: 'About', description: 'A release.' })),
        },
      },
    },
  }),
  ...describeCalls(OPENAPI_CALLS, {
    getOpenApi: {
      summary: 'This document, with the address at which it was asked for',
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
