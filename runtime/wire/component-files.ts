/**
 * The files beside a declarative manifest in which its author may have written components; the
 * first that is there counts.
 */
export const componentFileNames = [
  "components.ts",
  "components.mts",
  "components.js",
  "components.mjs",
] as const;
