/** The registry: every operation of the Control API, in the order of its document. */
import type { Operation } from "../contract/operation.ts";
import { sourceOperations } from "./sources.ts";

export const operations: readonly Operation[] = [...sourceOperations];
