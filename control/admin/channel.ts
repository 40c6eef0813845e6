/**
 * How a command asks the server that has its folder open: over a socket in that folder, which only
 * the folder's owner can connect to. One line of JSON each way: {action, input} and {result} or
 * {problem}.
 */
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join, relative } from "node:path";
import { type ActionName, type Admin, isActionName } from "./actions.ts";
import { AdminError } from "./admin-error.ts";

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
export async function serveAdmin(path: string, admin: Admin): Promise<AsyncDisposable> {
  await rm(path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined).once("close", () => sockets.delete(socket)));
    void readLine(socket)
      .then((line) => answer(line, admin))
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

async function answer(line: string, admin: Admin): Promise<string> {
  try {
    const { action, input } = JSON.parse(line) as { action: string; input: never };
    if (!isActionName(action))
      throw new AdminError("the server that runs is of another version: stop it first");
    return JSON.stringify({ result: await admin.run(action, input) });
  } catch (error) {
    const problem =
      error instanceof AdminError
        ? error.message
        : "the server could not do it; its log may say why";
    return JSON.stringify({ problem });
  }
}

/** The server that listens at the path; undefined when none does. */
export async function connectAdmin(path: string): Promise<Admin | undefined> {
  const probe = await tryConnect(path);
  if (!probe) return undefined;
  probe.destroy();
  return {
    async run(action: ActionName, input: unknown) {
      const socket = await tryConnect(path);
      if (!socket) throw new AdminError("the server has stopped");
      socket.setTimeout(answerTimeoutMs, () => socket.destroy());
      socket.write(`${JSON.stringify({ action, input })}\n`);
      const line = await readLine(socket).catch(() => {
        throw new AdminError("the server stopped before it answered");
      });
      socket.destroy();
      const { result, problem } = JSON.parse(line) as { result?: never; problem?: string };
      if (problem !== undefined) throw new AdminError(problem);
      return result as never;
    },
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
