/** List prices of us-east-1, in US dollars, without free tiers. Prices change and differ by region. */
export const PRICES = {
  asOf: '2026-03',
  region: 'us-east-1',
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  dynamodb: { perMillionWriteUnits: 0.625, perMillionReadUnits: 0.125 },
  /** https://aws.amazon.com/sqs/pricing/ (standard queues, and FIFO ones) */
  sqs: { perMillionRequests: 0.4, perMillionFifoRequests: 0.5 },
  /** https://aws.amazon.com/lambda/pricing/ (arm64) */
  lambda: { perMillionInvocations: 0.2, perGigabyteSecond: 0.0000133334 },
  /** https://aws.amazon.com/step-functions/pricing/ */
  stepFunctions: { perMillionTransitions: 25, perMillionExpressRequests: 1, perExpressGigabyteSecond: 0.00001667 },
  /** https://aws.amazon.com/fargate/pricing/ (Linux, arm64) */
  fargate: { perVcpuHour: 0.03238, perGigabyteHour: 0.00356 },
  /** https://aws.amazon.com/elasticache/pricing/ (on demand, Valkey) */
  elasticache: { cacheT4gMicroHour: 0.0128 },
  /** https://aws.amazon.com/rds/postgresql/pricing/ (on demand, in two zones twice that; storage is gp3) */
  rds: { dbT4gMicroHour: 0.016, perGigabyteMonth: 0.115 },
} as const;
