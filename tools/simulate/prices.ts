/**
 * List prices of us-east-1, in US dollars. All prices that this repository uses are here, and the prices on its pages
 * are compared with them. Prices change and differ by region.
 */
export const PRICES = {
  asOf: '2026-03',
  region: 'us-east-1',
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  dynamodb: { perMillionWriteUnits: 0.625, perMillionReadUnits: 0.125, perGigabyteMonth: 0.25 },
  /** https://aws.amazon.com/sqs/pricing/ (standard queues, and FIFO ones) */
  sqs: { perMillionRequests: 0.4, perMillionFifoRequests: 0.5, bytesPerRequest: 65_536 },
  /** https://aws.amazon.com/lambda/pricing/ (arm64) */
  lambda: { perMillionInvocations: 0.2, perGigabyteSecond: 0.0000133334 },
  /** https://aws.amazon.com/cloudwatch/pricing/ (the first 10,000 metrics; standard logs) */
  cloudWatch: {
    perDashboardMonth: 3,
    perAlarmMonth: 0.1,
    perMetricMonth: 0.3,
    perGigabyteOfLogs: 0.5,
    perThousandMetricsRequested: 0.01,
  },
  /** https://aws.amazon.com/kms/pricing/ */
  kms: { perKeyMonth: 1, perTenThousandRequests: 0.03 },
  /** https://aws.amazon.com/step-functions/pricing/ */
  stepFunctions: { perMillionTransitions: 25, perMillionExpressRequests: 1, perExpressGigabyteSecond: 0.00001667 },
  /** https://aws.amazon.com/fargate/pricing/ (Linux, arm64) */
  fargate: { perVcpuHour: 0.03238, perGigabyteHour: 0.00356 },
  /** https://aws.amazon.com/elasticache/pricing/ (on demand, Valkey) */
  elasticache: { cacheT4gMicroHour: 0.0128 },
  /** https://aws.amazon.com/rds/postgresql/pricing/ (on demand, in two zones twice that; storage is gp3) */
  rds: { dbT4gMicroHour: 0.016, perGigabyteMonth: 0.115 },
} as const;

/** What every account gets each month at no cost, without a time limit. DynamoDB's part does not cover tables on demand. */
export const FREE = {
  /** https://aws.amazon.com/sqs/pricing/ */
  sqs: { requests: 1_000_000 },
  /** https://aws.amazon.com/lambda/pricing/ */
  lambda: { invocations: 1_000_000, gigabyteSeconds: 400_000 },
  /** https://aws.amazon.com/cloudwatch/pricing/ A dashboard with more metrics is not free. */
  cloudWatch: { dashboards: 3, metricsOfDashboard: 50, alarms: 10, metrics: 10, gigabytesOfLogs: 5 },
} as const;

/** The number of messages that one SQS request can send or receive. */
const MESSAGES = 10;

/**
 * The number of requests that SQS bills for sending or receiving messages, ten at once: one for each 64 KB of the
 * payload of a request.
 *
 * @param sizes the sizes of the messages, in bytes
 */
export const sqsRequestsFor = (sizes: readonly number[]): number => {
  let requests = 0;
  for (let first = 0; first < sizes.length; first += MESSAGES) {
    const payload = sizes.slice(first, first + MESSAGES).reduce((sum, size) => sum + size, 0);
    requests += Math.max(1, Math.ceil(payload / PRICES.sqs.bytesPerRequest));
  }
  return requests;
};
