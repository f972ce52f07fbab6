/** The tests for each threat in docs/explanation/security.md: file and name of the test. */
export type NamedTest = readonly [file: string, test: string];

export const THREATS: Readonly<Record<string, readonly NamedTest[]>> = {
  'SSRF: a message contains an address to which Groupage sends requests': [
    ['test/security/addresses.test.ts', 'with an address in any other field is refused by the name of the field'],
    ['test/security/addresses.test.ts', 'sends requests only to AWS and to configured addresses'],
  ],
  'a producer, or a message in the callback queue, redirects events or forges them': [
    ['test/callbacks/deliver.test.ts', '%s go to the rejected queue with the reason'],
    ['test/steps/refused-messages.test.ts', 'sends events whose destination is configured now again'],
  ],
  'an HTTP destination accepts forged, changed or repeated events': [
    ['test/callbacks/http.test.ts', 'gets the unchanged event, signed, with configured headers'],
    ['test/callbacks/http.test.ts', 'is not called without its secret'],
  ],
  'a destination redirects events, never ends its answer, or gets its answer into logs': [
    ['test/callbacks/http.test.ts', "refuses an event with status %s; its answer's text is not repeated"],
    ['test/callbacks/http.test.ts', 'that never ends its answer has accepted the event, without delay'],
  ],
  'a function reaches more than the configured destinations': [
    ['test/infrastructure/destinations.test.ts', 'may reach %s, and no other function may'],
  ],
  'an address in a payload or grouping value is followed': [
    ['test/security/addresses.test.ts', 'keeps an address in its payload as text'],
  ],
  'prototype pollution by names such as `__proto__` and `constructor`': [
    ['test/domain/register-message.test.ts', 'is refused with all reasons at once'],
    ['test/end-to-end/bad-input.test.ts', 'are ordinary ids, values, payloads and results'],
  ],
  'nesting so deep that the stack overflows': [
    ['test/domain/json-text.test.ts', 'reads deep nesting and long strings without recursion'],
    ['test/downstream/http-answer.test.ts', 'may be deeply nested, or contain half a surrogate pair'],
  ],
  'JSON that grows a hundredfold in memory': [
    ['test/domain/json-text.test.ts', 'is refused for too many brackets and commas, not for its length'],
  ],
  'oversized ids, or ids that are paths, commands or markup': [
    ['test/domain/small-parts.test.ts', 'of a task accepts exactly what the contract allows'],
  ],
  'payloads and messages too large for a row, batch or queue': [
    ['test/domain/register-message.test.ts', 'is refused if its payload exceeds the limit, or `batch.maxBytes`'],
    ['test/domain/register-message.test.ts', 'is refused if the rest of it is too large to be sent again'],
  ],
  'rounded numbers that make two Targets one': [
    ['test/domain/target.test.ts', 'reports every value that is missing or cannot be grouped by'],
    ['test/fuzz/json-number.test.ts', 'two numbers have one Target only if they are equal'],
    ['test/domain/register-message.test.ts', 'keeps its payload unchanged'],
  ],
  'repeated keys, lone surrogates, byte order marks, broken UTF-8, which two parsers read differently': [
    ['test/api/bodies.test.ts', 'a body that is not UTF-8 is refused, and nothing is stored'],
    ['test/cli/lines.test.ts', 'a line that is not UTF-8 is refused, and the others are sent'],
    ['test/fuzz/register-message.test.ts', 'a payload arrives byte for byte, whatever surrounds it'],
    ['test/fuzz/api-bodies.test.ts', 'a body of tasks is accepted whole and unchanged, or refused with a reason'],
  ],
  'unexpected input that crashes a parser': [
    ['test/fuzz/register-message.test.ts', 'a register message becomes a task as sent, or is refused with a reason'],
    ['test/fuzz/inner-messages.test.ts', 'a message of the %s queue is read as one that Groupage sends, or not at all'],
    ['test/fuzz/api-bodies.test.ts', 'a body that names a Target flushes it, or is refused with a reason'],
    ['test/fuzz/answers.test.ts', 'an answer gives each item a result or leaves it open with a reason'],
  ],
  'ReDoS: text on which a pattern backtracks': [
    ['test/security/long-texts.test.ts', 'patterns for names, headers and cursors take linear time'],
    ['test/security/long-texts.test.ts', 'JSON parsers and answers take linear time on any text'],
  ],
  'a message that causes many writes or log lines': [
    ['test/domain/register-message.test.ts', 'is refused with more inputs than one message may write rows for'],
    ['test/security/cost.test.ts', 'writes a bounded number of rows, and one message'],
    ['test/security/cost.test.ts', 'that is refused writes one message with at most twenty reasons'],
  ],
  'injection into statements, expressions or keys (PartiQL)': [
    ['test/end-to-end/bad-input.test.ts', 'are ordinary ids, values, payloads and results'],
  ],
  'line breaks in values of headers (`Idempotency-Key` contains the batch id)': [
    ['test/fuzz/register-message.test.ts', 'a register message becomes a task as sent, or is refused with a reason'],
  ],
  'repeated messages': [
    ['test/security/cost.test.ts', 'makes one task, even if it arrives a thousand times'],
    ['test/end-to-end/bad-input.test.ts', 'add no batch and no call'],
  ],
  "another producer's id with another payload": [
    ['test/end-to-end/bad-input.test.ts', 'with an id taken by another task are refused; the first task is unchanged'],
  ],
  'a producer claims to be another, by an attribute or the name of its session': [
    ['test/domain/sender.test.ts', "is not one that a stranger claims, even in the session's name"],
    ['test/aws/senders.test.ts', 'strangers forge no sender; roles of our own pass senders on'],
  ],
  'a producer ends, acknowledges or redrives the work of others': [
    ['test/steps/powers.test.ts', "does not reach other senders' tasks by default"],
    ['test/steps/powers.test.ts', "is refused without a token and with another item's"],
    ['test/steps/powers.test.ts', 'is refused to producers, even for their own tasks'],
  ],
  'made-up fan-out items, and items of an ended fan-out': [
    ['test/api/fan-out-items.test.ts', 'with malformed items are refused by path, and none counts'],
    ['test/end-to-end/fan-outs.test.ts', 'invalid requests to fan-outs are refused and change nothing'],
  ],
  "a claim of another list, jobs of another claim, two results for a job, a list's internal tracker used as a fan-out":
    [
      ['test/api/list-claims.test.ts', 'is addressed by its handle, in its own list'],
      ['test/api/list-claims.test.ts', 'stays unchanged if it is completed with an invalid body'],
      ['test/api/lists.test.ts', 'a list cannot be read or acked as a fan-out'],
      ['test/fuzz/api-lists.test.ts', 'a body on lists is carried out, or is refused without effect'],
    ],
  'a producer ends or loses jobs of a list, or gets jobs that are for workers': [
    ['test/steps/triggered.test.ts', 'are ended by their own tasks only'],
    ['test/steps/triggered.test.ts', 'are not taken by a forged message or for a list with claims'],
  ],
  'a trigger or list of 100,000 jobs delays other lists': [
    ['test/steps/triggered.test.ts', 'of a large trigger do not delay those of a small trigger'],
  ],
  'message attributes that only Groupage sets': [['test/wire.test.ts', 'is a number, whatever the attribute contains']],
  'an elect, group or batch message with a made-up Target, batch, token or fence': [
    ['test/end-to-end/bad-input.test.ts', 'start no leader and no batch'],
    ['test/steps/group.test.ts', 'ignores a message that no leader of the Target sent'],
    ['test/domain/small-parts.test.ts', 'is refused if a row could not hold its names, or only at a high cost'],
    ['test/security/cost.test.ts', 'for an unknown Target writes at most one row'],
  ],
  'messages that are rejected each time they are redriven': [
    ['test/steps/refused-messages.test.ts', 'lists messages that are rejected again because of stored data'],
    ['test/steps/dead-letters.test.ts', 'skips dead letters that arrived after it began and reaches older ones'],
  ],
  'messages with more errors than an answer can hold': [
    ['test/steps/refused-messages.test.ts', 'lists a message with its first twenty problems'],
    ['test/api/dead-letters.test.ts', 'limits its answer; the cursor continues with the rest'],
  ],
  'a Target that cannot be checked or repaired, or an invalid position, stops the patrol': [
    ['test/steps/patrol.test.ts', 'goes on with other Targets if some cannot be %s, and names them'],
    ['test/steps/patrol.test.ts', 'restarts an operation whose stored mark is invalid, and reports that once'],
  ],
  'messages that no function can read': [
    ['test/steps/sweep.test.ts', 'moves unreadable messages to the rejected queue with the reason'],
  ],
  'a redirect takes the batch elsewhere': [['test/downstream/http.test.ts', 'that redirects is not followed']],
  'an endless answer, or one that unpacks to gigabytes': [
    ['test/downstream/http.test.ts', 'whose answer never ends is cut off, and its batch may be halved'],
    ['test/downstream/http.test.ts', 'whose compressed answer becomes too large is cut off'],
  ],
  'an answer that arrives byte by byte': [
    ['test/downstream/http.test.ts', 'that answers slowly is cut off at the timeout'],
  ],
  'results for other tasks, several results for one task, half an answer': [
    ['test/downstream/http-answer.test.ts', 'with results for unknown items changes nothing'],
    ['test/fuzz/answers.test.ts', 'an item gets exactly the result that the answer gives'],
  ],
  'an endless pause (`Retry-After`)': [['test/fuzz/answers.test.ts', 'a retry-after is a valid wait, or is ignored']],
  'forged, changed or repeated calls of a downstream': [
    ['test/downstream/signature.test.ts', 'is checked for %s'],
    ['test/downstream/documented.test.ts', 'decides as ours for %s'],
    ['test/downstream/http-headers.test.ts', 'is signed with the bytes, the path and the key that are sent'],
  ],
  'a secret in the configuration, an error or a log': [
    ['test/downstream/secrets.test.ts', "is not in the error, even if the service's error contains it"],
    ['test/downstream/http-headers.test.ts', 'whose secret %s is not made, and names the secret'],
  ],
  "a local start calls AWS with a user's credentials": [
    ['test/local/services.test.ts', 'calls an emulator only if its address is on this machine'],
  ],
  'a caller with a small right uses a larger one': [
    ['test/api/rights.test.ts', 'gets 403 for each call that its right does not include'],
    ['test/api/rights.test.ts', 'of %s are %s, whatever the path, session and case'],
    ['test/api/rights.test.ts', 'that could be a limited one may do nothing'],
    ['test/infrastructure/api-rights.test.ts', '%s lets a role invoke the function through its URL only'],
    ['test/deployment/rights.test.ts', '%s can call what its right includes, and nothing else'],
    ['test/deployment/rights.test.ts', 'through a function URL may not send an event of their own'],
  ],
  "callers without credentials, and web pages that use a user's": [
    ['test/infrastructure/promises/functions.ts', 'function URLs require IAM, and allow no CORS'],
    ['test/infrastructure/promises/functions.ts', 'API Gateway requires IAM, and allows no CORS'],
    ['test/deployment/api-gateway.test.ts', 'becomes a private API that refuses requests beside its endpoint'],
  ],
  'an action that nobody can trace': [
    ['test/api/audit.test.ts', 'has an entry before it does anything'],
    ['test/api/audit.test.ts', 'is not taken if its entry cannot be stored'],
    ['test/infrastructure/promises/tables.ts', 'no function can delete entries of the audit trail'],
  ],
  'paths that leave the API, invalid methods and bodies': [
    ['test/fuzz/api-paths.test.ts', 'every path, with every method and query, is answered'],
    ['test/local/function-url.test.ts', 'the function URL answers malformed requests with a 4xx status'],
  ],
  'forged cursors': [
    ['test/end-to-end/api.test.ts', 'answers 400 if the cursor was not made by the API'],
    ['test/aws/cursor.test.ts', 'is a key of its list, as a page returned it'],
  ],
  'a misspelt dry run or filter makes the doctor repair everything': [
    ['test/api/doctor.test.ts', 'refuses unknown parameters, also dryRun, and repairs nothing'],
  ],
  'answers a hundred times as large as the request': [
    ['test/end-to-end/api.test.ts', 'lists the first 1,000 errors and counts the rest'],
  ],
  'cross-site requests of a web page to the API, SQS or DynamoDB': [
    ['test/local/loopback.test.ts', 'refuses pages of another origin (cross-site requests)'],
    ['test/local/loopback.test.ts', 'refuses the preflight of another origin'],
    ['test/local/loopback.test.ts', 'the local SQS refuses a form of a web page'],
  ],
  'DNS rebinding: a foreign name resolves to 127.0.0.1': [
    ['test/local/loopback.test.ts', 'refuses a foreign host name that resolves to this machine (DNS rebinding)'],
    ['test/local/loopback.test.ts', 'the engine of the local DynamoDB listens on an unusual loopback address'],
  ],
  'request lines that name other addresses, or are broken': [
    ['test/local/odd-requests.test.ts', 'refuses a request target that is not a path, with the reason'],
    ['test/local/odd-requests.test.ts', 'takes a path that looks like an address as a path of its own'],
    ['test/local/odd-requests.test.ts', 'refuses bytes that are not HTTP, with the reason'],
    ['test/local/odd-requests.test.ts', 'survives upgrades, half bodies, and clients that reset the connection'],
  ],
  'a web page or foreign name uses the console': [
    ['test/console/server.test.ts', 'refuses other origins and other host names'],
  ],
  'a payload or result runs as script in the console, or loads content': [
    ['test/console/server.test.ts', 'lets the page load resources of its own origin only'],
  ],
  'paths to other files, or console requests to other addresses': [
    ['test/console/server.test.ts', 'serves no file of another folder'],
    ['test/console/asked-paths.test.ts', 'do not lead out of the API: %s'],
    ['test/console/asked-paths.test.ts', 'are limited in number and length'],
  ],
  'an open page that costs as much as the work, or a slow one that fills the memory': [
    ['test/console/interval.test.ts', 'cost at most the limit and one round in any hour, also if many are urgent'],
    ['test/local/console.test.ts', 'keeps an open page within the stated read units, whatever it requests'],
    ['test/console/outbox.test.ts', 'keeps the latest message about each subject, in their first order'],
  ],
  'credentials in the page or terminal of `groupage console`': [
    ['test/cli/console.test.ts', 'serves the page for a deployed stack, and signs the requests to the API'],
  ],
  'other machines in the network': [['test/local/sqs-engine.test.ts', 'listens on the loopback address alone']],
  'a `.groupage/local.json` in a folder above yours redirects your tasks': [
    ['test/local/local-file.test.ts', 'is ignored if its address is not on this machine'],
    ['test/local/local-file.test.ts', 'is ignored if it belongs to another user'],
  ],
  'escape sequences in payloads, results, errors and names, shown in a terminal': [
    ['test/cli/output.test.ts', 'is printed without terminal codes'],
    ['test/cli/cli.test.ts', 'prints payloads, results and errors without terminal codes, also as JSON'],
  ],
  'a payload that passes for other fields or another line': [
    ['test/cli/cli.test.ts', 'refuses a payload that contains other fields'],
    ['test/cli/lines.test.ts', 'a line ends at a line feed, and not within a JSON string'],
  ],
  'a redirect takes a signed request with its session token elsewhere': [
    ['test/cli/stack.test.ts', 'follows no redirect to another host, so that no credentials leak'],
  ],
  'values that forge log lines': [
    ['test/security/secrets.test.ts', 'has one JSON object a line, and no text of others'],
  ],
  'payloads, results, answers, tokens or credentials in logs': [
    ['test/security/secrets.test.ts', 'has one JSON object a line, and no text of others'],
    ['test/downstream/http-answer.test.ts', 'is quoted separately from the reason, which is logged'],
    ['test/domain/json-text.test.ts', 'is refused without a quotation, as reasons are logged'],
  ],
  "secrets in the functions' environment, or in templates": [
    ['test/security/secrets.test.ts', 'gives functions the names of tables and queues by reference, and nothing else'],
    ['test/security/secrets.test.ts', 'contains operation names in alarms and dashboards only, and no other setting'],
    ['test/infrastructure/promises/functions.ts', 'every setting of a function is a reference'],
  ],
  'passwords and keys in printed addresses': [
    ['test/config/endpoints.test.ts', 'no problem of a configuration contains a secret'],
    ['test/local/start.test.ts', "prints the downstream's address without its query, which may contain a key"],
    ['test/cli/cli.test.ts', 'checks a configuration'],
  ],
  'wildcards and unneeded permissions': [
    ['test/infrastructure/promises/roles.ts', 'every statement names what it allows'],
    ['test/infrastructure/options.test.ts', "can be made by Lambda, but not by the function's code"],
    ['test/permissions/permissions.test.ts', "cover nothing else but Lambda's own uses and explained ones"],
    ['test/infrastructure/fleet-table.test.ts', 'grants %s exactly the actions that the store needs, on this table'],
  ],
  'functions, state machines, queues and secrets that are not configured': [
    ['test/infrastructure/downstreams.test.ts', 'may call %s and read named secrets, and nothing else'],
  ],
  'foreign events in the batch queue': [
    [
      'test/infrastructure/downstreams.test.ts',
      'sends ended executions of configured state machines to the batch queue',
    ],
  ],
  'roles that others can assume, or that functions share': [
    ['test/infrastructure/promises/roles.ts', 'every role trusts Lambda alone'],
    ['test/infrastructure/promises/roles.ts', 'each role belongs to one function'],
  ],
  'functions that others invoke': [
    ['test/infrastructure/promises/functions.ts', 'functions are invoked on behalf of this stack only'],
  ],
  'queues that others can access, or without TLS': [
    ['test/infrastructure/promises/queues.ts', 'queues deny access without TLS'],
    ['test/infrastructure/grants.test.ts', 'may send to the register queue if their account is named'],
    ['test/infrastructure/grants.test.ts', 'may send if they belong to a named organization'],
  ],
  'unencrypted data at rest': [
    ['test/infrastructure/promises/queues.ts', 'queues are encrypted and keep messages for 14 days'],
    ['test/infrastructure/promises/tables.ts', 'every table is encrypted with the free key that AWS owns'],
    ['test/infrastructure/options.test.ts', 'encrypts tables, queues, dead letters and logs with the key'],
    ['test/infrastructure/options.test.ts', 'lets each function use the key as it needs'],
  ],
  'a stack deleted by mistake': [
    ['test/infrastructure/promises/tables.ts', 'tables of a kept stack outlive it'],
    ['test/infrastructure/promises/queues.ts', 'queues that hold tasks outlive a kept stack'],
    ['test/infrastructure/promises/tables.ts', 'every table has point-in-time recovery'],
  ],
  'endless message loops': [
    ['test/infrastructure/promises/event-sources.ts', 'concurrency is limited at every event source'],
  ],
  'dependencies that differ from the reviewed ones': [
    ['test/security/dependencies.test.ts', 'have exact versions and hashes'],
    ['test/security/dependencies.test.ts', 'run no install script except the allowed ones'],
  ],
};

/** For each power of producers in the same document: tests that try it with the right, and without it. */
export const POWERS: Readonly<Record<string, { readonly with: NamedTest; readonly without: NamedTest }>> = {
  'send tasks': {
    with: ['test/steps/powers.test.ts', 'is given to a named sender, and to any sender by default'],
    without: ['test/steps/powers.test.ts', 'is refused to others, and their messages are kept with the reason'],
  },
  'trigger jobs of a list': {
    with: ['test/steps/triggered.test.ts', 'become tasks with their payloads, as items of the list, only once'],
    without: ['test/steps/powers.test.ts', 'is not lent by a list: a sender without it may not trigger its jobs'],
  },
  'replace waiting tasks (`coalesceKey`)': {
    with: ['test/steps/powers.test.ts', 'reaches the tasks of all senders with "any"'],
    without: ['test/steps/powers.test.ts', "does not reach other senders' tasks by default"],
  },
  "acknowledge a fan-out's item": {
    with: ['test/steps/powers.test.ts', 'needs the token of the item; the token is not stored'],
    without: ['test/steps/powers.test.ts', "is refused without a token and with another item's"],
  },
  'redrive (`run`)': {
    with: ['test/steps/powers.test.ts', 'is given to callers of the API and to named producers'],
    without: ['test/steps/powers.test.ts', 'is refused to producers, even for their own tasks'],
  },
  'choose ids': {
    with: ['test/security/cost.test.ts', 'makes one task, even if it arrives a thousand times'],
    without: [
      'test/end-to-end/bad-input.test.ts',
      'with an id taken by another task are refused; the first task is unchanged',
    ],
  },
};
