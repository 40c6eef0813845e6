import { readFileSync } from "node:fs";
import { ConnectorError, type ErrorCode, type ErrorDetails, errorTable } from "svc-connectors/host";
import { expect, test } from "vitest";
import { renderErrorPage } from "../docs/error-page.ts";

const codes = Object.keys(errorTable) as ErrorCode[];
const details: ErrorDetails = {
  path: "a.b",
  problem: "p",
  reason: "r",
  stream: "s",
  found: 6001,
  limit: 6000,
  hint: "h",
  status: 503,
};

test("docs/errors.md is the page that the error table makes; `npm run docs` rewrites it", () => {
  expect(readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8")).toBe(
    renderErrorPage(),
  );
});

test.each(
  codes,
)("%s gives one line of at most 500 characters, with and without details", (code) => {
  for (const given of [{}, details]) {
    const { message } = new ConnectorError(code, given);
    expect(message).toMatch(/^[^\n\r]{10,500}$/u);
    // Of the template's places and optional parts nothing is left; what to do may show a list.
    expect(message.replace(errorTable[code].fix, "")).not.toMatch(/\[|\]|\{|\}/);
  }
});

test("details are cut to known names, one line and 200 characters", () => {
  const error = new ConnectorError("CONFIG_INVALID", {
    path: "a\nb",
    problem: "x".repeat(900),
    secret: "s",
  } as ErrorDetails);
  expect(error.details).toEqual({ path: "a b", problem: `${"x".repeat(199)}…` });
});

test("printing an error in any way shows its code and message only", async () => {
  const { inspect } = await import("node:util");
  const error = new ConnectorError("INTERNAL");
  expect(inspect(error)).toBe(`INTERNAL: ${error.message}`);
  expect(JSON.parse(JSON.stringify(error))).toEqual({ code: "INTERNAL", message: error.message });
});
