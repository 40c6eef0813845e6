/**
 * PostgreSQL in a container, for machines that have Docker and no PostgreSQL of their own. Not
 * @testcontainers/postgresql 12.2: it publishes the port on every address of the machine, here it
 * is on loopback only; it pulls a second image to clear up, which a machine without a way out
 * cannot; and its `exec` gives psql no input.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import {
  connectDocker,
  type Docker,
  inspectImage,
  ownLabels,
  removeLeftovers,
} from "./container-docker.ts";
import { onInterruption } from "./container-interruption.ts";
import { type NoPostgres, type PostgresServer, psqlFlags, quietSettings } from "./postgres.ts";
import { throwAwaySettings } from "./postgres-server.ts";

/** The official image; another one by the environment variable POSTGRES_IMAGE. */
const defaultImage = "postgres:17-alpine";
const port = "5432/tcp";
const startTimeoutMs = 60_000;
const triesEveryMs = 100;

/** Says what to install where neither Docker nor the image is to be had. */
export async function startServerContainer(): Promise<PostgresServer | NoPostgres> {
  const image = process.env.POSTGRES_IMAGE || defaultImage;
  const docker = await reachDocker(image);
  if (docker === undefined)
    return {
      missing: `a database is needed: install PostgreSQL (Debian: apt-get install postgresql), or start Docker with the image ${image}; POSTGRES_IMAGE names another one`,
    };
  const password = randomBytes(18).toString("base64url");
  const settings = Object.entries({ ...throwAwaySettings, ...quietSettings });
  const container = await docker.createContainer({
    Image: image,
    Cmd: ["postgres", ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    Env: [
      `POSTGRES_PASSWORD=${password}`,
      "POSTGRES_INITDB_ARGS=--locale=C --encoding=UTF8 --no-sync",
    ],
    Labels: { ...ownLabels },
    ExposedPorts: { [port]: {} },
    HostConfig: { PortBindings: { [port]: [{ HostIp: "127.0.0.1", HostPort: "" }] } },
  });
  const remove = async () =>
    void (await container.remove({ force: true, v: true }).catch(() => undefined));
  const release = onInterruption(remove);
  const stop = async () => {
    release();
    await remove();
  };
  try {
    await container.start();
    // By TCP: while the image sets itself up, it listens on its socket only.
    const psql = (database: string, sql: string) =>
      runInContainer(
        docker,
        container,
        ["psql", ...psqlFlags, "--host=127.0.0.1", database],
        password,
        sql,
      );
    await untilReady(() => psql("postgres", "SELECT 1"));
    const { NetworkSettings } = await container.inspect();
    const published = Number(NetworkSettings.Ports[port]?.[0]?.HostPort);
    return { host: "127.0.0.1", port: published, psql, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function reachDocker(image: string): Promise<Docker | undefined> {
  try {
    const docker = await connectDocker(image);
    await inspectImage(docker, image);
    await removeLeftovers(docker);
    return docker;
  } catch {
    return undefined;
  }
}

/** @throws Error with what the program said, when it does not end well */
async function runInContainer(
  docker: Docker,
  container: ReturnType<Docker["getContainer"]>,
  command: readonly string[],
  password: string,
  input: string,
): Promise<string> {
  const exec = await container.exec({
    Cmd: [...command],
    Env: [`PGPASSWORD=${password}`, "PGCLIENTENCODING=UTF8"],
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream = await exec.start({ hijack: true, stdin: true });
  const [out, err] = [new PassThrough(), new PassThrough()];
  docker.modem.demuxStream(stream, out, err);
  const texts = Promise.all([text(out), text(err)]);
  const ended = once(stream, "end");
  stream.on("error", () => {});
  stream.end(input);
  await ended;
  out.end();
  err.end();
  const [output, complaint] = await texts;
  const { ExitCode } = await exec.inspect();
  if (ExitCode !== 0) throw new Error(complaint.trim() || `${command[0]} ended with ${ExitCode}`);
  return output;
}

/** @throws what the last try threw */
async function untilReady(attempt: () => Promise<unknown>): Promise<void> {
  const giveUpMs = performance.now() + startTimeoutMs;
  for (;;) {
    try {
      return void (await attempt());
    } catch (error) {
      if (performance.now() > giveUpMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, triesEveryMs));
    }
  }
}
