import { expect, test } from "vitest";
import { ConnectorError, errorTable } from "./errors.ts";

const fixes = Object.entries(errorTable).flatMap(([code, row]): [string, string][] =>
  row.kind === "connector" ? [[code, row.fix]] : [],
);

test.each(fixes)("%s speaks to authors of images and manifests too", (_, fix) => {
  // A fix that only code can make says so, and others are told what is theirs.
  if (/\bctx\b|process\.exit|\bfunctions?\b|debugger|TypeScript/.test(fix))
    expect(fix).toMatch(/\ba module\b/i);
  if (/\bmodule\b/.test(fix)) expect(fix).toMatch(/\bimage\b|without an end: in a module/);
});

test("brackets of a sentence stand where they name no detail, and go with a detail that is missing", () => {
  const { message } = new ConnectorError("ADDRESS_REFUSED");
  expect(message).toMatch(/may not be made to\. Use/);
  expect(message).toContain("allow_networks: [127.0.0.1/32]");
  expect(new ConnectorError("ADDRESS_REFUSED", { addressClass: "loopback" }).message).toContain(
    "may not be made to (loopback).",
  );
});
