import { expect, test } from "vitest";
import { errorTable } from "./errors.ts";

const fixes = Object.entries(errorTable).flatMap(([code, row]): [string, string][] =>
  row.kind === "connector" ? [[code, row.fix]] : [],
);

test.each(fixes)("%s speaks to authors of images and manifests too", (_, fix) => {
  // What only code can do is told as such, and others are told what is theirs.
  if (/\bctx\b|process\.exit|\bfunctions?\b|debugger|TypeScript/.test(fix))
    expect(fix).toMatch(/\ba module\b/i);
  if (/\bmodule\b/.test(fix)) expect(fix).toMatch(/\bimage\b|without an end: in a module/);
});
