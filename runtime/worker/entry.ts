/**
 * The first code in a sandboxed worker. Takes away what the permission model leaves open, then
 * serves one run on descriptor 3.
 */
import { type Channel, channel, subscribe } from "node:diagnostics_channel";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Socket, type SocketConstructorOpts } from "node:net";
import os from "node:os";
import v8 from "node:v8";
import { createFrameReader, createFrameWriter, frameKind, gateOfWorker } from "../wire/frames.ts";
import { keptFlag } from "../wire/kept-run.ts";
import { deniedResource, describeFailure } from "./failure.ts";
import { provideOwnPackage } from "./own-package.ts";
import { serve } from "./serve.ts";

/**
 * Functions of `process` that reach other processes, or change who this one is: the kernel's signal
 * at the host's death is cleared by a change of user. The permission model does not cover them.
 */
const reachOutside = [
  "setuid",
  "setgid",
  "seteuid",
  "setegid",
  "setgroups",
  "initgroups",
  "kill",
  "_kill",
  "_debugProcess",
  "_debugEnd",
  "execve",
  "dlopen",
  "binding",
  "_linkedBinding",
  "abort",
] as const;

/** Bytes that may wait for the host before the connector does: so both work at the same time. */
const writeAheadBytes = 512 * 1024;

const wire = new Socket({
  fd: 3,
  readable: true,
  writable: true,
  writableHighWaterMark: writeAheadBytes,
} as SocketConstructorOpts);
const writer = createFrameWriter(wire);
const exit = process.exit.bind(process);

/**
 * Each thing that the sandbox refuses is reported once per kind and a bounded number of times in
 * all.
 */
let deniedCount = 0;
let isListening = false;
const permissionChannels = ["fs", "net", "child", "worker", "addon", "wasi", "inspector", "ffi"];
for (const name of permissionChannels) {
  subscribe(`node:permission-model:${name}`, (message) =>
    reportDenied(deniedResource(message as object)),
  );
}
for (const name of permissionChannels) keepListening(name);
isListening = true;

/**
 * A connector could empty the list of those who listen, or have another function publish. It shares
 * this realm all the same: what it hides otherwise is refused, and unseen.
 */
function keepListening(name: string): void {
  // Node writes its number of the channel at the first refusal, which this is.
  process.permission?.has(name === "fs" ? "fs.write" : name);
  const heard = channel(`node:permission-model:${name}`) as Channel & Listening;
  for (const own of ["publish", "hasSubscribers", "_subscribers", "_stores"] as const)
    Object.defineProperty(heard, own, { value: heard[own], writable: false, configurable: false });
  if (heard._subscribers) Object.freeze(heard._subscribers);
  if (heard._index !== undefined)
    Object.defineProperty(heard, "_index", { writable: false, configurable: false });
  Object.preventExtensions(heard);
}
/** Node's own loader hands a cache of its own besides. */
function encodingOf(options: unknown): BufferEncoding {
  const given =
    typeof options === "object" ? (options as { encoding?: unknown } | null) : undefined;
  return ((given ? given.encoding : options) ?? "utf8") as BufferEncoding;
}

/** Properties of a channel that Node's types leave out. */
interface Listening {
  readonly _subscribers?: unknown[];
  readonly _stores?: unknown;
  readonly _index?: number;
}

function reportDenied(resource: string): void {
  if (isListening && deniedCount++ < 100) writer.sendJson(frameKind.denied, 0, { resource });
}
for (const name of Object.keys(process.env)) delete process.env[name]; // bubblewrap leaves PWD
for (const name of reachOutside) {
  if (!(name in process)) continue;
  Object.defineProperty(process, name, {
    value: () => refuse("other processes"),
    configurable: false,
    writable: false,
  });
}
// The report of a fatal error is written past the permission model, to wherever its settings say,
// and describes the machine. Libraries that ask it for details find none.
Object.defineProperty(process, "report", { value: undefined, configurable: false });
os.setPriority = () => refuse("other processes");
// V8's own flags can make it write files, past the permission model.
for (const name of ["setFlagsFromString", "startCpuProfile", "startHeapProfile"]) {
  Object.defineProperty(v8, name, {
    value: () => refuse("V8 flags"),
    configurable: false,
    writable: false,
  });
}
// That of Node asks for each folder on the way, whether it may be read or not, and so tells which
// are there. The resolver of modules still does (docs/security.md).
const { native } = fs.realpathSync;
fs.realpathSync = Object.assign(
  ((path, options) => native(path, encodingOf(options))) as typeof native,
  { native },
) as typeof fs.realpathSync;
const asked = fs.realpath.native;
fs.realpath = Object.assign(
  ((path: fs.PathLike, ...rest: [unknown, unknown?]) =>
    asked(path, encodingOf(rest.length > 1 ? rest[0] : undefined), rest.at(-1) as never)) as never,
  { native: asked },
) as typeof fs.realpath;
provideOwnPackage();
syncBuiltinESMExports();

function refuse(resource: string): never {
  reportDenied(resource);
  throw Object.assign(new Error("Access to this API has been restricted"), {
    code: "ERR_ACCESS_DENIED",
    permission: "",
  });
}

/**
 * Says no more, and goes when the host has closed its side. Going at once would lose what was said
 * last: an answer that the host is just then sending breaks the wire on its side, with all that it
 * has not read.
 */
const leave = (code: number) => {
  if (wire.destroyed) exit(code);
  wire.once("close", () => exit(code));
  wire.end();
};

const fail = (error: unknown) => {
  writer.sendJson(frameKind.failed, 0, describeFailure(error));
  leave(1);
};
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
// warnings go to standard error otherwise; the host gives them to nobody
process.on("warning", () => {});

if (process.argv.includes(keptFlag)) await serveMany();
else await serve(wire);
leave(0);

/** One run after another, until one leaves something behind. */
async function serveMany(): Promise<void> {
  const { keepRuns } = await import("./kept.ts");
  const runs = keepRuns();
  const reader = createFrameReader(gateOfWorker);
  wire.on("error", () => wire.destroy());
  let current = 0;
  do {
    const run = ++current;
    await serve(wire, undefined, { reader, isCurrent: () => run === current });
    if (deniedCount > 0 || wire.destroyed || !(await runs.isAsBefore())) return;
    current++;
    writer.send(frameKind.over, 0);
  } while (!wire.destroyed);
}
