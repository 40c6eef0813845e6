/** Notices what a run writes into the prototype of all objects of this process. */

export interface Watched<T> {
  readonly result: T;
  /** "conformance_new_field". */
  readonly pollution: readonly string[];
}

/** Takes it out again, so that nothing after the run inherits it. */
export async function takePollution<T>(work: () => Promise<T>): Promise<Watched<T>> {
  const before = new Set(Object.getOwnPropertyNames(Object.prototype));
  try {
    const result = await work();
    return { result, pollution: addedSince(before) };
  } finally {
    for (const name of addedSince(before)) Reflect.deleteProperty(Object.prototype, name);
  }
}

const addedSince = (before: ReadonlySet<string>) =>
  Object.getOwnPropertyNames(Object.prototype).filter((name) => !before.has(name));
