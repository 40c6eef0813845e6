import { expect, test } from "vitest";
import { runCommand } from "../tests/command.ts";
import { budgetFor, buildConformance, toBudget } from "./command.ts";

test.each([
  [["--", "node", "my.js"], /^svc: unexpected "my\.js"; a program .* is tried as an image/],
  [["./my.yaml"], /^svc: there is no connector "\.\/my\.yaml"; a path leads to .* manifest/],
  [["mailr"], /^svc: there is no connector "mailr" \(did you mean "mailer"\?\)/],
  [["program:none.js"], /^svc: program:none\.js cannot be imported: check the path/],
])("svc conformance %j names what to do, and exits 2", async (args, problem) => {
  const surroundings = { cwd: "/", commands: { conformance: buildConformance } };
  const { code, stderr } = await runCommand(["conformance", ...args], surroundings);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(problem) });
});

test("an image has ten minutes, unless one says otherwise, or what to try", () => {
  const image = "image:acme/source-shop";
  expect(budgetFor(image, {})).toBe(600_000);
  expect(budgetFor(image, { budget: toBudget("90s") })).toBe(90_000);
  for (const text of ["none", "0"])
    expect(budgetFor(image, { budget: toBudget(text) })).toBeUndefined();
  expect(budgetFor(image, { rules: ["STATE-01"] })).toBeUndefined();
  expect(budgetFor(image, { exhaustive: true })).toBeUndefined();
  expect(budgetFor("./tickets", {})).toBeUndefined();
  expect(() => toBudget("5 minutes")).toThrow(/such as 5m, or none/);
});
