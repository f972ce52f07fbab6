/** Reads the report that Schemathesis writes of a run: one event per line. */
import { readFileSync } from 'node:fs';
import { isObject } from '../../src/util/json-text.ts';

export interface Finding {
  /** Method and path template, such as `GET /tasks/{id}`. */
  readonly operation: string;
  readonly check: string;
  readonly message: string;
  readonly request: string;
  readonly status: number | undefined;
  readonly answer: string;
}

export interface Report {
  readonly findings: readonly Finding[];
  /** The operations that answered a request with 2xx. */
  readonly succeeded: ReadonlySet<string>;
  /** Why parts of the run, or the run itself, did not take place. */
  readonly errors: readonly string[];
}

interface Bytes {
  readonly $base64: string;
}
interface Interaction {
  readonly request: { readonly method: string; readonly uri: string; readonly body?: Bytes | null };
  readonly response?: { readonly status_code: number; readonly content?: Bytes | null } | null;
}
interface Scenario {
  readonly recorder: {
    readonly cases?: Readonly<Record<string, { readonly value: { readonly method: string; readonly path: string } }>>;
    readonly checks?: Readonly<
      Record<
        string,
        readonly {
          readonly name: string;
          readonly failure_info?: { readonly failure: { readonly title: string; readonly message: string } };
        }[]
      >
    >;
    readonly interactions?: Readonly<Record<string, Interaction>>;
  };
}

const textOf = (bytes: Bytes | null | undefined): string => Buffer.from(bytes?.$base64 ?? '', 'base64').toString();

/** @param file in Schemathesis's format `ndjson` */
export const readReport = (file: string): Report => {
  const events = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => Object.entries(JSON.parse(line) as Record<string, unknown>));
  const scenarios = events.flatMap(([kind, event]) => (kind === 'ScenarioFinished' ? [event as Scenario] : []));
  const [end] = events.flatMap(([kind, event]) => (kind === 'EngineFinished' ? [event] : []));
  const isComplete = isObject(end) && end.stop_reason === 'completed';
  const errors = events.filter(([kind]) => /Error$|^Interrupted$/.test(kind)).map((event) => JSON.stringify(event));
  return {
    findings: scenarios.flatMap(findingsOf),
    succeeded: new Set(scenarios.flatMap(succeededIn)),
    errors: isComplete ? errors : [...errors, `the run did not complete: ${JSON.stringify(end)}`],
  };
};

const findingsOf = ({ recorder: { cases = {}, checks = {}, interactions = {} } }: Scenario): readonly Finding[] =>
  Object.entries(checks).flatMap(([id, results]) =>
    results.flatMap(({ name: check, failure_info: info }) => {
      const { request, response } = interactions[id] ?? {};
      return info === undefined
        ? []
        : [
            {
              operation: operationOf(cases[id]),
              check,
              message: `${info.failure.title}: ${info.failure.message}`,
              request: `${request?.method} ${request?.uri} ${textOf(request?.body)}`,
              status: response?.status_code,
              answer: textOf(response?.content),
            },
          ];
    }),
  );

const succeededIn = ({ recorder: { cases = {}, interactions = {} } }: Scenario): readonly string[] =>
  Object.entries(interactions).flatMap(([id, { response }]) =>
    Math.trunc((response?.status_code ?? 0) / 100) === 2 ? [operationOf(cases[id])] : [],
  );

const operationOf = (
  asked: { readonly value: { readonly method: string; readonly path: string } } | undefined,
): string => `${asked?.value.method} ${asked?.value.path}`;
