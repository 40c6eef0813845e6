import { Writable } from "node:stream";
import { createHost, main, systemClock } from "svc-connectors/host";
import { expect, test } from "vitest";
import { buildConformance } from "./command.ts";

async function conformance(...args: readonly string[]) {
  const chunks: string[] = [];
  const stream = (keep: boolean) =>
    new Writable({
      write(chunk, _, done) {
        if (keep) chunks.push(String(chunk));
        done();
      },
    });
  const environment = {
    ...{ stdout: stream(false), stderr: stream(true), clock: systemClock, cwd: "/", isTTY: false },
    ...{ createHost, onSignal: () => ({ [Symbol.dispose]: () => undefined }) },
  };
  const more = { conformance: { summary: "", load: async () => buildConformance } };
  return { code: await main(["conformance", ...args], environment, more), err: chunks.join("") };
}

test.each([
  [["--", "node", "my.js"], /^svc: unexpected "my\.js"; a program .* is tried as an image/],
  [["./my.yaml"], /^svc: there is no connector "\.\/my\.yaml"; a path leads to .* manifest/],
  [["mailr"], /^svc: there is no connector "mailr" \(did you mean "mailer"\?\)/],
  [["program:none.js"], /^svc: program:none\.js cannot be imported: check the path/],
])("svc conformance %j names what to do, and exits 2", async (args, problem) => {
  expect(await conformance(...args)).toEqual({ code: 2, err: expect.stringMatching(problem) });
});
