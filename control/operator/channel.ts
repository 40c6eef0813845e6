/**
 * How a command asks the server that has its folder open: over a socket in that folder, which only
 * the folder's owner can connect to. One line of JSON each way: {operation, input}, and the
 * envelope of the answer.
 */
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join, relative } from "node:path";
import type { AskOperation, OperatorInput } from "./operator.ts";
import { OperatorError } from "./operator-error.ts";

/** Longest path of a socket on every system that svc runs on. */
const maxPathLength = 100;
/** A question is short, an answer may list sessions. */
const maxLineLength = 64 * 1024 * 1024;
/** A key rotation over many secrets takes its time. */
const answerTimeoutMs = 10 * 60_000;

/** Where a folder's socket is; undefined when its path is too long, also as seen from here. */
export function socketPath(folder: string): string | undefined {
  const absolute = join(folder, "admin.sock");
  return [absolute, relative(process.cwd(), absolute)].find(
    (path) => Buffer.byteLength(path) <= maxPathLength,
  );
}

/**
 * Answers until it is disposed of. Call it only while the folder's lock is held: a socket that is
 * there is a dead server's.
 */
export async function serveOperator(path: string, ask: AskOperation): Promise<AsyncDisposable> {
  await rm(path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined).once("close", () => sockets.delete(socket)));
    void readLine(socket)
      .then((line) => answer(line, ask))
      .then((text) => socket.end(`${text}\n`))
      .catch(() => socket.destroy());
  });
  // The socket comes into being with this mask: there is no moment at which somebody else could
  // connect.
  const mask = process.umask(0o177);
  server.listen(path);
  process.umask(mask);
  await once(server, "listening");
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function answer(line: string, ask: AskOperation): Promise<string> {
  const { operation, input } = JSON.parse(line) as { operation: string; input: OperatorInput };
  return ask(operation, input);
}

/** The server that listens at the path; undefined when none does. */
export async function connectOperator(path: string): Promise<AskOperation | undefined> {
  const probe = await tryConnect(path);
  if (!probe) return undefined;
  probe.destroy();
  return async (operation, input) => {
    const socket = await tryConnect(path);
    if (!socket) throw new OperatorError("the server has stopped");
    socket.setTimeout(answerTimeoutMs, () => socket.destroy());
    socket.write(`${JSON.stringify({ operation, input })}\n`);
    const line = await readLine(socket).catch(() => {
      throw new OperatorError("the server stopped before it answered");
    });
    socket.destroy();
    return line;
  };
}

async function tryConnect(path: string): Promise<Socket | undefined> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return socket.on("error", () => undefined);
  } catch {
    return undefined;
  }
}

/** @throws Error when the stream ends before the line does */
async function readLine(socket: Socket): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    text += chunk;
    const end = text.indexOf("\n");
    if (end >= 0) resolve(text.slice(0, end));
    else if (text.length > maxLineLength) socket.destroy();
  });
  socket.once("close", () => reject(new Error("the line did not end")));
  return promise;
}
