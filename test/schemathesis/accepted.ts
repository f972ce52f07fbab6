/**
 * The findings of Schemathesis that are no faults: requests that match the OpenAPI document, and are refused for a reason
 * that no schema can express. Every entry has to occur.
 */
export interface Accepted {
  /** The reasons in the errors of the answer. */
  readonly reasons: RegExp;
  readonly because: string;
}

export const ACCEPTED: readonly Accepted[] = [
  {
    reasons: /^the cursor does not come from a page/,
    because: 'A cursor is opaque: only the call that returned it can tell.',
  },
  {
    reasons: /^is unknown: .* configured are |^must be one of distribute-parcels, /,
    because: 'Each deployment configures its own operations and destinations.',
  },
  {
    reasons: /^is missing; the operation groups its tasks by it$/,
    because: 'Each operation configures its own grouping fields.',
  },
  {
    reasons:
      /^is required with `(?:prefix|which=under-way)`|^is required, (?:because waiting|or an `operation`)|^is not allowed beside `(?:target|batch)`|^is only allowed with status=|^must be a duration from "1s" to "30d"/,
    because:
      'OpenAPI 3.1 states neither that a query parameter needs or excludes another one nor the range of a duration.',
  },
  {
    reasons:
      /^is a Target of .*, not of |^must be the id of a task in this batch$|^are allowed only for a merged job, |^must be the token of a job of this claim|^is also the token of (?:jobs|attempted)\[|^must be a list of [01] to \d+ jobs(, the number that the claim has| of the claim$)/,
    because: 'A body has to fit the operation, batch or claim in its path.',
  },
];
