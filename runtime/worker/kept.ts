/**
 * Serves one run after another in a worker, for the conformance kit: each run gets modules of its
 * own, and one that has left anything behind is the worker's last. It looks at what one run could
 * leave for the next: changed globals and built-in modules, timers and handles, listeners, and
 * refusals of the sandbox.
 */
import { writeSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { endMark } from "../wire/kept-run.ts";
import { runtimeFolder } from "../wire/location.ts";

export interface KeptRuns {
  /** True when the next run meets what the first one met; then the output so far is marked. */
  isAsBefore(): Promise<boolean>;
}

/** Modules of earlier runs stay in memory, as far as there is room. */
const mostRuns = 200;
const mostHeapBytes = 128 * 2 ** 20;
const ownCode = pathToFileURL(runtimeFolder).href;

/** Is called before any code of a connector is loaded. */
export function keepRuns(): KeptRuns {
  let run = 1;
  let hasUnheld = false;
  const builtins = new Set<string>();
  const realm: Shape[] = [];
  // Node's own list of what it has loaded.
  const known = new Set<object>([Reflect.get(process, "moduleLoadList") as object]);
  const look = (root: object) => {
    for (const part of partsOf(root)) {
      if (known.has(part)) continue;
      known.add(part);
      realm.push(shapeOf(part));
    }
  };
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const { url } = found;
      if (url.startsWith("node:") && !builtins.has(url)) {
        // Before who asks for it can change it.
        builtins.add(url);
        look(process.getBuiltinModule(url) as object);
      }
      const isOfRun =
        url.startsWith("file:") &&
        !url.startsWith(ownCode) &&
        !context.conditions.includes("require");
      if (!isOfRun) return found;
      const fresh = new URL(url);
      fresh.searchParams.set("run", String(run));
      return { ...found, url: fresh.href };
    },
  });
  // A timer without a reference keeps no process alive, is not among its resources, and may come
  // later.
  const timeouts = Object.getPrototypeOf(noTimer()) as { unref(): unknown };
  const { unref } = timeouts;
  timeouts.unref = function (this: unknown) {
    hasUnheld = true;
    return unref.call(this);
  };
  const { timeout } = AbortSignal;
  AbortSignal.timeout = (ms) => {
    hasUnheld = true;
    return timeout.call(AbortSignal, ms);
  };
  look(globalThis);
  look(process);
  for (const one of hiddenPrototypes()) look(one);
  for (const name of ["node:events", "node:buffer", "node:stream", "node:util", "node:timers"])
    look(process.getBuiltinModule(name) as object);
  const resources = resourcesNow();
  const { cache } = createRequire(import.meta.url);

  return {
    async isAsBefore() {
      await eventLoopTurn();
      if (++run > mostRuns || hasUnheld) return false;
      if (process.memoryUsage().heapUsed > mostHeapBytes) return false;
      if (process.cwd() !== "/" || resourcesNow() !== resources) return false;
      if (!realm.every(hasShape)) return false;
      for (const file of Object.keys(cache)) delete cache[file];
      try {
        for (const output of [1, 2]) writeSync(output, endMark);
      } catch {
        return false; // it is full: nobody has read what the run printed
      }
      return true;
    },
  };
}

function noTimer(): object {
  const timer = setTimeout(() => undefined, 0);
  clearTimeout(timer);
  return timer;
}

/** The resources that keep the process alive, but for what it writes just then. */
const resourcesNow = () =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => kind !== "Immediate" && kind !== "TickObject")
    .sort()
    .join();

/** Prototypes that no global names. */
function hiddenPrototypes(): object[] {
  const functions = [async () => {}, function* () {}, async function* () {}];
  const iterators = [[].values(), new Map().entries(), new Set().values(), "".matchAll(/./g)];
  return [
    ...functions.map((one) => Object.getPrototypeOf(one)),
    ...iterators.map((one) => Object.getPrototypeOf(one)),
    Object.getPrototypeOf(Int8Array),
    Object.getPrototypeOf(Int8Array.prototype),
    Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype)),
  ];
}

const isObject = (value: unknown): value is object =>
  typeof value === "function" || (typeof value === "object" && value !== null);

/** The object, what its properties hold, and the prototypes of what these make. */
function partsOf(root: object): object[] {
  const values = (object: object) =>
    Object.values(Object.getOwnPropertyDescriptors(object))
      .map(({ value }) => value as unknown)
      .filter(isObject);
  const first = values(root);
  const prototypes = first.flatMap((one) => {
    const { value } = Object.getOwnPropertyDescriptor(one, "prototype") ?? {};
    return isObject(value) ? [value] : [];
  });
  return [root, ...first, ...prototypes];
}

interface Shape {
  readonly object: object;
  readonly parent: unknown;
  readonly isExtensible: boolean;
  readonly keys: readonly PropertyKey[];
  readonly properties: readonly (PropertyDescriptor | undefined)[];
}

function shapeOf(object: object): Shape {
  const keys = Reflect.ownKeys(object);
  return {
    object,
    parent: Object.getPrototypeOf(object),
    isExtensible: Object.isExtensible(object),
    keys,
    properties: keys.map((key) => Reflect.getOwnPropertyDescriptor(object, key)),
  };
}

function hasShape(before: Shape): boolean {
  const now = shapeOf(before.object);
  return (
    now.parent === before.parent &&
    now.isExtensible === before.isExtensible &&
    now.keys.length === before.keys.length &&
    now.keys.every((key, index) => key === before.keys[index]) &&
    now.properties.every((property, index) => isSame(property, before.properties[index]))
  );
}

const isSame = (one: PropertyDescriptor | undefined, other: PropertyDescriptor | undefined) =>
  Object.is(one?.value, other?.value) &&
  one?.get === other?.get &&
  one?.set === other?.set &&
  one?.writable === other?.writable &&
  one?.enumerable === other?.enumerable &&
  one?.configurable === other?.configurable;
