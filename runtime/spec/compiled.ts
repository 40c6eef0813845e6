/**
 * Validators of the runtime's own schemas, of JSON Schema itself, and of what the sources that come
 * with svc ask for, by `digestOf` of each: the build writes them in the place of this module. In a
 * checkout there are none, and each schema is compiled when it is first needed.
 * @see build/validators.ts
 */
import type { ValidateFunction } from "ajv/dist/2020.js";

export const compiledAhead: Readonly<Record<string, ValidateFunction>> = {};
