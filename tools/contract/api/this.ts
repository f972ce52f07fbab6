/** What the API says of itself. */
import * as z from 'zod';
import { text } from '../fields.ts';
import type { Route } from './route.ts';

export const THIS_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/about',
    id: 'getAbout',
    summary: 'Which release of Groupage answers',
    answers: {
      200: {
        description: 'The release.',
        schema: z
          .object({ version: text('By semantic versioning, e.g. `0.2.0`.') })
          .meta({ id: 'About', description: 'A release.' }),
      },
    },
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApi',
    summary: 'This document, with the address at which it was asked for',
    answers: {
      200: {
        description: 'OpenAPI 3.1.',
        schema: z.looseObject({ openapi: text('3.1.0.') }).meta({ id: 'OpenApi', description: 'An OpenAPI document.' }),
      },
    },
  },
];
