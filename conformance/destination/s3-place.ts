/**
 * Places of destinations that declare `s3Bucket(...)`: a prefix each in one bucket of a store,
 * behind TLS, where requests are counted and answered wrongly.
 */
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "svc-connectors";
import { type Authority, openAuthority } from "svc-connectors/host";
import type { DatabaseError } from "../contract/database.ts";
import { createDialling } from "../faults/dialling.ts";
import type { ObjectStoreServer } from "../target/object-store.ts";
import type { Place, Trouble, UnwritablePlace } from "./contract.ts";
import { createPlace, type PlaceContext, type Way } from "./place.ts";

/** Names of the settings that lead to the bucket. */
export interface S3Declaration {
  readonly bucket: string;
  readonly prefix: string;
  readonly region: string;
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A name of RFC 2606: the kit leads every host to its store. */
const host = "store.example.net";

export interface S3Places {
  create(): Promise<Place>;
}

/** @param config has the secret that the store's writer has */
export async function createS3Places(
  context: PlaceContext,
  server: ObjectStoreServer,
  egress: S3Declaration,
  config: JsonObject,
): Promise<S3Places> {
  const authority = await openAuthority();
  let count = 0;

  async function create(own: JsonObject = {}): Promise<Place> {
    count += 1;
    const folder = await mkdtemp(join(tmpdir(), "svc-destination-"));
    return createPlace(context, {
      config: {
        ...config,
        [egress.bucket]: server.bucket,
        [egress.prefix]: `place/${count}`,
        [egress.region]: "us-east-1",
        [egress.endpoint]: `https://${host}`,
        [egress.accessKeyId]: server.writer.accessKeyId,
        ...own,
      },
      passwordField: egress.secretAccessKey,
      folder,
      path: undefined,
      way: (trouble) => openWay(server, authority, trouble),
      sql: undefined,
      // Names in the bucket are others with each run.
      files: () => readdir(join(folder, "scratch")).catch(() => []),
      unwritable: () => Promise.all(obstacles.map((obstacle) => makeUnwritable(obstacle))),
      remove: () => rm(folder, { recursive: true, force: true }),
    });
  }

  async function makeUnwritable({ name, own, trouble }: Obstacle): Promise<UnwritablePlace> {
    const place = await create(own?.(egress, server));
    return {
      name,
      check: () => place.check(trouble),
      damage: async () => undefined,
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    };
  }

  return { create: () => create() };
}

interface Obstacle {
  readonly name: string;
  own?(egress: S3Declaration, server: ObjectStoreServer): JsonObject;
  readonly trouble?: Trouble;
}

const obstacles: readonly Obstacle[] = [
  {
    name: "the user may only read",
    own: ({ accessKeyId, secretAccessKey }, { reader }) => ({
      [accessKeyId]: reader.accessKeyId,
      [secretAccessKey]: reader.secretAccessKey,
    }),
  },
  { name: "the bucket is not there", own: ({ bucket }) => ({ [bucket]: "no-such-bucket" }) },
  { name: "the secret is a wrong one", trouble: { password: "another-secret" } },
  { name: "nobody listens there", trouble: { connection: "refused" } },
  { name: "the host has no address", trouble: { connection: "unknown-host" } },
];

/** Ends TLS, counts the requests, and passes them on as they are: their host is signed too. */
async function openWay(
  { port: storePort }: ObjectStoreServer,
  authority: Authority,
  { connection, fault, onQuery }: Trouble,
): Promise<Way> {
  let requestCount = 0;
  const sockets = new Set<Socket>();
  const serve = (incoming: IncomingMessage, answer: ServerResponse) => {
    const index = requestCount;
    requestCount += 1;
    onQuery?.(index);
    const isWrong = fault && (index === fault.at || (fault.isLasting && index > fault.at));
    if (isWrong && fault.type !== "hang")
      return fault.type === "reset"
        ? void incoming.socket.destroy()
        : refuse(incoming, answer, fault.type);
    if (isWrong) return;
    const { method, url, headers } = incoming;
    const passed = request({ port: storePort, host: "127.0.0.1", method, path: url, headers });
    passed.on("error", () => answer.destroy());
    passed.on("response", (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    incoming.on("error", () => passed.destroy());
    incoming.pipe(passed);
  };
  const SNICallback = (name: string, done: (error: Error | null, context?: never) => void) =>
    void authority.contextFor(name).then(
      (context) => done(null, context as never),
      (error: Error) => done(error),
    );
  const listening = createServer({ SNICallback, keepAliveTimeout: 0 }, serve);
  listening.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  });
  listening.on("tlsClientError", () => undefined);
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  const { resolve, dial } = createDialling(port, connection && { fault: connection });
  return {
    seams: { resolve, dial, ca: authority.caPem },
    port,
    queryCount: () => requestCount,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listening.close();
      await once(listening, "close");
    },
  };
}

/** An error of the store that quotes what it was given, as stores do. */
function refuse(
  incoming: IncomingMessage,
  answer: ServerResponse,
  { sqlState, message, detail = "" }: DatabaseError,
): void {
  const isForbidden = sqlState === "42501";
  const code = isForbidden ? "AccessDenied" : "InternalError";
  incoming.resume();
  answer.writeHead(isForbidden ? 403 : 500, { "content-type": "application/xml" });
  answer.end(`<Error><Code>${code}</Code><Message>${message} ${detail}</Message></Error>`);
}
