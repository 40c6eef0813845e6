/**
 * Watches a connector that runs in this process for every access past its context: files,
 * environment, clock, random numbers, network, processes. PlacedCall for by
 * `lab.run(command, { watchAccess: true })`, and reported in `traces.accesses`.
 */
import childProcess from "node:child_process";
import crypto from "node:crypto";
import dgram from "node:dgram";
import dns from "node:dns";
import fs from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import os from "node:os";
import tls from "node:tls";
import { fileURLToPath } from "node:url";
import workerThreads from "node:worker_threads";
import type { Access, AccessKind } from "../contract/observation.ts";
import { type Frame, frames } from "./frames.ts";

export interface AccessWatch {
  /** Puts everything back, and gives the accesses: each use of one line counts once. */
  stop(): readonly Access[];
}

type Members = { [name: string]: unknown };

/** The watched functions: all of a module, or those named. */
const watched: readonly {
  readonly kind: AccessKind;
  readonly name: string;
  readonly module: object;
  readonly only?: readonly string[];
}[] = [
  { kind: "fs", name: "fs", module: fs },
  { kind: "fs", name: "fs.promises", module: fs.promises },
  { kind: "environment", name: "os", module: os },
  { kind: "clock", name: "performance", module: performance, only: ["now"] },
  { kind: "clock", name: "process", module: process, only: ["hrtime"] },
  { kind: "random", name: "Math", module: Math, only: ["random"] },
  {
    kind: "random",
    name: "crypto",
    module: globalThis.crypto,
    only: ["randomUUID", "getRandomValues"],
  },
  {
    kind: "random",
    name: "crypto",
    module: crypto,
    only: ["randomUUID", "randomBytes", "randomInt", "randomFillSync", "getRandomValues"],
  },
  {
    kind: "network",
    name: "globalThis",
    module: globalThis,
    only: ["fetch", "WebSocket", "EventSource"],
  },
  {
    kind: "network",
    name: "net",
    module: net,
    only: ["connect", "createConnection", "createServer", "Socket"],
  },
  { kind: "network", name: "tls", module: tls, only: ["connect"] },
  { kind: "network", name: "http", module: http, only: ["request", "get", "createServer"] },
  { kind: "network", name: "https", module: https, only: ["request", "get"] },
  { kind: "network", name: "http2", module: http2, only: ["connect"] },
  { kind: "network", name: "dns", module: dns },
  { kind: "network", name: "dns.promises", module: dns.promises },
  { kind: "network", name: "dgram", module: dgram, only: ["createSocket"] },
  { kind: "process", name: "child_process", module: childProcess },
  { kind: "process", name: "worker_threads", module: workerThreads, only: ["Worker"] },
];

/** Folders of the kit and of the runtime. Their own uses are not the connector's. */
const kitFolders = ["../", "../../runtime/"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/**
 * Replaces functions of Node by ones that note who called, until `stop`. One watch at a time;
 * modules must be loaded before. A use belongs to the connector when its nearest frame on the stack
 * comes before any of the kit or the runtime. Uses through libraries count too; those that
 * ctx.http, ctx.clock and the like make for it do not, nor does a variable of the environment that
 * a library asked for and that is not set.
 * @param sources absolute paths of the connector's files
 */
export function watchAccess(sources: ReadonlySet<string>): AccessWatch {
  const found = new Map<string, Access>();
  const undo: (() => void)[] = [];
  const note = (kind: AccessKind, what: string, isGiven = true) => {
    const caller = callerIn(sources);
    if (caller === undefined || !(isGiven || caller.isDirect)) return;
    found.set(`${what} ${caller.where}`, { kind, what, where: caller.where });
  };
  const replace = (holder: object, name: string, value: unknown) => {
    const before = Object.getOwnPropertyDescriptor(holder, name);
    if (before && !before.configurable && !before.writable) return;
    if (before && !before.configurable) Reflect.set(holder, name, value);
    else
      Object.defineProperty(holder, name, {
        configurable: true,
        enumerable: before?.enumerable ?? true,
        writable: true,
        value,
      });
    undo.push(() =>
      before ? Object.defineProperty(holder, name, before) : Reflect.deleteProperty(holder, name),
    );
  };

  for (const { kind, name: owner, module, only } of watched) {
    for (const name of only ?? Object.keys(module)) {
      const original = readFunction(module as Members, name);
      if (original)
        replace(
          module,
          name,
          watchedFunction(original, () =>
            note(kind, owner === "globalThis" ? name : `${owner}.${name}`),
          ),
        );
    }
  }
  replace(
    globalThis,
    "Date",
    watchedDate((what) => note("clock", what)),
  );
  replace(
    process,
    "env",
    watchedEnvironment(process.env, (what, isSet) => note("environment", what, isSet)),
  );
  syncBuiltinESMExports();
  return {
    stop() {
      for (const put of undo.reverse()) put();
      syncBuiltinESMExports();
      return [...found.values()];
    },
  };
}

/** Getters of modules warn or load something: they are left alone. */
function readFunction(
  holder: Members,
  name: string,
): ((...args: unknown[]) => unknown) | undefined {
  const descriptor = Object.getOwnPropertyDescriptor(holder, name);
  const value = descriptor?.get && !descriptor.set ? undefined : holder[name];
  return typeof value === "function" ? (value as (...args: unknown[]) => unknown) : undefined;
}

/** The function, or the class, which reports its calls. */
const watchedFunction = (original: (...args: unknown[]) => unknown, report: () => void) =>
  new Proxy(original, {
    apply(target, self, args) {
      report();
      return Reflect.apply(target, self, args);
    },
    construct(target, args, newTarget) {
      report();
      return Reflect.construct(target, args, newTarget);
    },
  });

/** `Date`, which reports who asks for the present; `new Date(ms)` and `Date.parse` only compute. */
const watchedDate = (report: (what: string) => void) => {
  const original = Date;
  const now = () => {
    report("Date.now()");
    return original.now();
  };
  return new Proxy(original, {
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
    apply(target) {
      report("Date()");
      return target();
    },
    construct(target, args, newTarget) {
      if (args.length === 0) report("new Date()");
      return Reflect.construct(target, args, newTarget);
    },
  });
};

const watchedEnvironment = (
  original: NodeJS.ProcessEnv,
  report: (what: string, isSet?: boolean) => void,
) =>
  new Proxy(original, {
    get(target, name) {
      report(`process.env.${String(name)}`, Reflect.has(target, name));
      return Reflect.get(target, name);
    },
    has(target, name) {
      report(`process.env.${String(name)}`);
      return Reflect.has(target, name);
    },
    ownKeys(target) {
      report("process.env");
      return Reflect.ownKeys(target);
    },
    set(target, name, value) {
      target[String(name)] = value;
      return true;
    },
  });

/** The connector's line that made the call, "index.ts:12"; `isDirect`: no library is between. */
function callerIn(
  sources: ReadonlySet<string>,
): { readonly where: string; readonly isDirect: boolean } | undefined {
  let isDirect = true;
  for (const frame of frames()) {
    const { file } = frame;
    if (file === ownFile) continue;
    if (kitFolders.some((folder) => file.startsWith(folder))) return undefined;
    if (sources.has(file)) return { where: nameOf(frame), isDirect };
    isDirect = false;
  }
  return undefined;
}

/** The lines of these files that are running, the innermost first. @see PlacedCall */
export function linesOf(files: ReadonlySet<string>): string | undefined {
  const own = frames().filter(({ file }) => files.has(file));
  return own.slice(0, maxCallers).map(nameOf).join(" ← ") || undefined;
}

/** Lines that say where a request comes from. */
const maxCallers = 3;

const nameOf = ({ file, line }: Frame) => `${file.slice(file.lastIndexOf("/") + 1)}:${line}`;

const ownFile = fileURLToPath(import.meta.url);
