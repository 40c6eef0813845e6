/**
 * Random choices of samples, seeded by the rule that asks or by the work that several share: the
 * same whichever rules are tried before it and beside it, and when it is tried alone.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { crc32 } from "node:zlib";
import { createRandom, type Random } from "./random.ts";

const choosing = new AsyncLocalStorage<Random>();

/** Does the work with choices of its own. @param name of the rule, or of the shared work */
export const choosingFor = <T>(name: string, seed: number, work: () => Promise<T>): Promise<T> =>
  choosing.run(createRandom(seed ^ crc32(name)), work);

/** The choices of the work under way. */
export const choices = (seed: number): Random => choosing.getStore() ?? createRandom(seed);
