import { expect, test } from "vitest";
import { runCommand } from "../tests/command.ts";
import { buildConformance } from "./command.ts";

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
