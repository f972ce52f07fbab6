/** The published images of the engines, in containers, by Testcontainers. */
import type { Readable } from 'node:stream';
import { LocalstackContainer } from '@testcontainers/localstack';
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers';
import { reasonOf } from '../../../src/util/problems.ts';
import type { Engine } from './engine.ts';

/**
 * The same version that `tools/local/dynamodb-local.ts` runs without a container, so that only the container differs.
 */
export const DYNAMODB_IMAGE = 'amazon/dynamodb-local:1.25.1';
/** The last version that needs no token; later ones exit at once without one. */
export const LOCALSTACK_IMAGE = 'localstack/localstack:4.14.0';

const DYNAMODB_PORT = 8000;
const LOCALSTACK_PORT = 4566;
/** The longest start of a container after its image is there, in milliseconds. */
const PATIENCE = 120_000;
/** The interval between two checks, and the timeout of each, in milliseconds. */
const OFTEN = 500;

/** The reason why no container can run here; undefined if a container engine answers. */
export const containersProblem = async (): Promise<string | undefined> => {
  try {
    await getContainerRuntimeClient();
    return undefined;
  } catch (cause) {
    const where = process.env.DOCKER_HOST
      ? `at DOCKER_HOST=${process.env.DOCKER_HOST}`
      : 'at the usual sockets of Docker, and DOCKER_HOST is not set';
    return `no container engine answers ${where} (${reasonOf(cause)}): start Docker, or podman with \`podman system service\` and DOCKER_HOST=unix://its-socket; \`.ci/containers start\` does that on a bare Debian machine`;
  }
};

/** Starts DynamoDB Local in memory. @throws Error with the reason */
export const startDynamoDBContainer = (): Promise<Engine> =>
  started(
    DYNAMODB_IMAGE,
    new DynamoDBContainer(DYNAMODB_IMAGE)
      .withExposedPorts(DYNAMODB_PORT)
      .withCommand(['-jar', 'DynamoDBLocal.jar', '-inMemory', '-sharedDb', '-disableTelemetry'])
      // A request without a signature is answered 400: the engine serves.
      .withWaitStrategy(Wait.forHttp('/', DYNAMODB_PORT).forStatusCode(400).withReadTimeout(OFTEN)),
  );

/** Starts LocalStack with SQS only. @throws Error with the reason */
export const startLocalStackContainer = (): Promise<Engine> =>
  started(
    LOCALSTACK_IMAGE,
    new SqsContainer(LOCALSTACK_IMAGE)
      .withEnvironment({
        SERVICES: 'sqs',
        STRICT_SERVICE_LOADING: '1',
        EAGER_SERVICE_LOADING: '1',
        // The URLs of queues begin with the address that was called, whatever the published port is.
        SQS_ENDPOINT_STRATEGY: 'dynamic',
        DISABLE_EVENTS: '1',
        SKIP_SSL_CERT_DOWNLOAD: '1',
      })
      // LocalStack prints "Ready." seconds before SQS answers, so the check calls SQS.
      .withWaitStrategy(Wait.forHttp('/?Action=ListQueues', LOCALSTACK_PORT).forStatusCode(200).withReadTimeout(OFTEN)),
  );

const started = async (
  image: string,
  container: { withStartupTimeout(ms: number): GenericContainer },
): Promise<Engine> => {
  let said = '';
  const hear = (log: Readable): void => {
    log.on('data', (data) => {
      said = `${said}${data}`.slice(-1_000);
    });
  };
  let running: StartedTestContainer;
  try {
    running = await container.withStartupTimeout(PATIENCE).withLogConsumer(hear).start();
  } catch (cause) {
    throw new Error(
      `a container of ${image} did not start (${reasonOf(cause)}): ${said.trim() ? `it said last: ${said.trim()}` : `can the image be pulled (\`docker pull ${image}\`)?`}`,
      { cause },
    );
  }
  // By its number: `localhost` may resolve to an IPv6 address too, where no port is published.
  const host = isLoopback(running.getHost()) ? '127.0.0.1' : running.getHost();
  return {
    endpoint: `http://${host}:${running.getFirstMappedPort()}`,
    stop: async () => {
      await running.stop();
    },
  };
};

const isLoopback = (host: string): boolean => host === 'localhost' || host === '127.0.0.1';

/** The form in which Testcontainers publishes ports: without an address, which means all addresses. */
type Published = Readonly<Record<string, readonly { HostPort?: string }[]>>;

/**
 * Publishes the ports at the loopback address if Testcontainers will look for them there. An engine on another
 * machine, or seen from inside a container, has to publish at all addresses to be reachable.
 */
const onLoopback = async (published: Published): Promise<Record<string, { HostIp?: string; HostPort: string }[]>> => {
  const { host } = (await getContainerRuntimeClient()).info.containerRuntime;
  const address = isLoopback(host) ? { HostIp: '127.0.0.1' } : {};
  return Object.fromEntries(
    Object.entries(published).map(([port, bindings]) => [
      port,
      bindings.map(({ HostPort = '0' }) => ({ ...address, HostPort })),
    ]),
  );
};

class DynamoDBContainer extends GenericContainer {
  protected override async beforeContainerCreated(): Promise<void> {
    this.hostConfig.PortBindings = await onLoopback(this.hostConfig.PortBindings as Published);
  }
}

class SqsContainer extends LocalstackContainer {
  protected override async beforeContainerCreated(): Promise<void> {
    await super.beforeContainerCreated();
    this.hostConfig.PortBindings = await onLoopback(this.hostConfig.PortBindings as Published);
  }
}
