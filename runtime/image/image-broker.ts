/**
 * The broker of an image: its sessions are runs of the image's program, and the requests of that
 * go through the HTTP broker of the run, which has the secrets.
 */
import { join } from "node:path";
import { Duplex } from "node:stream";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { ContainedImage, ImageCommand, ImageEnding } from "../contract/image.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Broker } from "../egress/broker.ts";
import type { PlaceholderRegistry } from "../egress/placeholders.ts";
import { statusError } from "../egress/status-errors.ts";
import type { HttpCall } from "../wire/http-call.ts";
import { endingPiece, outputPiece } from "../wire/image-session.ts";
import { openAuthority } from "./authority.ts";
import { catchTokens } from "./catch-tokens.ts";
import { type Container, startContainer } from "./container.ts";
import { idOfPinned } from "./find-image.ts";
import { openGate, socketName } from "./gate.ts";
import { openImageProxy } from "./proxy.ts";
import { createRunFolder, writeRunFiles } from "./run-folder.ts";

export interface ImageBrokerOptions {
  readonly image: ContainedImage;
  /** With placeholders, and with what is exposed. */
  readonly config: JsonObject;
  readonly placeholders: PlaceholderRegistry;
  readonly limits: ImageLimits;
  /** Called with the resource that the image tried and may not use, in words of ours. */
  readonly onDenied: (resource: string) => void;
}

export interface ImageLimits {
  /** Memory of the container. */
  readonly memoryMb: number;
  /** An image that neither says nor asks anything for longer is ended. */
  readonly silenceMs: number;
}

/** Most bytes of a command of the worker: a catalog of one stream and its state. */
const maxCommandBytes = 8 * 1024 * 1024;
/** Different things that a run tells of: an image could try without end. */
const maxDenials = 100;
const longestTimerMs = 10_000;

/** @param http sends the image's requests; it is closed with this one */
export function createImageBroker(http: Broker, options: ImageBrokerOptions): Broker {
  const reported = new Set<string>();
  const onDenied = (resource: string) => {
    if (reported.has(resource) || reported.size >= maxDenials) return;
    reported.add(resource);
    options.onDenied(resource);
  };
  const sessions = new Set<{ readonly socket: Duplex; readonly ended: Promise<void> }>();
  return {
    async request() {
      throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "only the image sends requests" });
    },
    async connect(signal) {
      if (signal.aborted) throw new ConnectorError("CANCELLED");
      const session = openSession(http, { ...options, onDenied });
      sessions.add(session);
      session.ended.then(() => sessions.delete(session));
      return session.socket;
    },
    get requestCount() {
      return http.requestCount;
    },
    async close() {
      const open = [...sessions];
      for (const { socket } of open) socket.destroy();
      await http.close();
      await Promise.all(open.map(({ ended }) => ended));
    },
  };
}

/** A session: the worker writes its command, and reads the output of the program, then its end. */
function openSession(http: Broker, options: ImageBrokerOptions) {
  const leaving = new AbortController();
  const over = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let wake = () => {};
  let isStarted = false;

  const write = async (piece: Buffer) => {
    if (socket.destroyed || socket.push(piece)) return;
    await new Promise<void>((resolve) => {
      wake = resolve;
      leaving.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  };
  const run = async () => {
    const ending = await runImage(http, options, parseCommand(chunks), write, leaving.signal).catch(
      (error: unknown): ImageEnding => ({
        exitCode: -1,
        error: toConnectorError(error).toRecord(),
      }),
    );
    if (!socket.destroyed) {
      socket.push(endingPiece(ending));
      socket.push(null);
    }
    over.resolve();
  };
  const socket = new Duplex({
    read: () => wake(),
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxCommandBytes) return done(new Error("a command is too large"));
      chunks.push(chunk);
      done();
    },
    final(done) {
      isStarted = true;
      void run();
      done();
    },
    destroy(_error, done) {
      leaving.abort(new ConnectorError("CANCELLED"));
      if (!isStarted) over.resolve();
      done(null);
    },
  });
  socket.on("error", () => undefined);
  return { socket, ended: over.promise };
}

/** A proxy, a gate, a container, and nothing of them afterwards. */
async function runImage(
  http: Broker,
  { image, config, placeholders, limits, onDenied }: ImageBrokerOptions,
  { verb, catalog, state }: ImageCommand,
  write: (piece: Buffer) => Promise<void>,
  signal: AbortSignal,
): Promise<ImageEnding> {
  /** The failure of the last request, when that was no success. */
  let refusal: ConnectorError | undefined;
  const send = async (call: HttpCall, leaving: AbortSignal) => {
    try {
      const answer = await http.request(call, AbortSignal.any([leaving, signal]));
      refusal = answer.status < 400 ? undefined : statusError(answer.status);
      return { ...answer, body: await catchTokens(answer.body, placeholders) };
    } catch (error) {
      refusal = toConnectorError(error);
      throw error;
    }
  };
  const onRefused = (resource: string) => {
    refusal = new ConnectorError("CONNECTOR_FORBIDDEN", { resource });
    onDenied(resource);
  };
  const id = await idOfPinned(image.id, signal);
  const authority = await openAuthority();
  await using folder = await createRunFolder();
  const args = await writeRunFiles(folder.image, {
    ...{ verb, config, catalog, state, ca: authority.caPem },
  });
  const path = join(folder.gate, socketName);
  await using proxy = await openImageProxy({
    ...{ path, authority, hosts: image.hosts, send, onRefused },
  });
  await using gate = await openGate(folder.gate, signal);
  const container = startContainer(gate, {
    ...{ image: id, user: image.user, folder: folder.image, args },
    memoryMb: limits.memoryMb,
  });
  const stop = () => container.kill(new ConnectorError("CANCELLED"));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  await pump(container, limits.silenceMs, () => proxy.openRequests > 0, write);
  const { exitCode, error } = await container.ended;
  return {
    exitCode,
    ...(refusal ? { refusal: refusal.toRecord() } : {}),
    ...(error ? { error: error.toRecord() } : {}),
  };
}

/** Hands the output on as fast as it is taken, and ends a program that is silent for too long. */
async function pump(
  container: Container,
  silenceMs: number,
  isAsking: () => boolean,
  write: (piece: Buffer) => Promise<void>,
): Promise<void> {
  let lastMs = performance.now();
  let isTaken = true;
  const limitSeconds = Math.round(silenceMs / 1000);
  const silent = new ConnectorError("CONNECTOR_TIMEOUT", { phase: "say anything", limitSeconds });
  const timer = setInterval(
    () => {
      if (!isTaken || isAsking()) lastMs = performance.now();
      if (performance.now() - lastMs > silenceMs) container.kill(silent);
    },
    Math.min(silenceMs / 4, longestTimerMs),
  );
  try {
    for await (const chunk of container.output as AsyncIterable<Buffer>) {
      isTaken = false;
      await write(outputPiece(chunk));
      isTaken = true;
      lastMs = performance.now();
    }
  } catch {
    // It was ended: the reason is the container's to tell.
  } finally {
    clearInterval(timer);
  }
}

/** Of our own worker, which a stranger's output may have taken over. @throws CONNECTOR_PROTOCOL */
function parseCommand(chunks: readonly Buffer[]): ImageCommand {
  try {
    const command = JSON.parse(Buffer.concat(chunks).toString("utf8")) as ImageCommand;
    if (["check", "discover", "read"].includes(command.verb)) return command;
  } catch {
    // said below
  }
  throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "it asks for no verb of an image" });
}
