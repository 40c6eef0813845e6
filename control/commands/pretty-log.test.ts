import { expect, test } from "vitest";
import { createPrettyLog } from "./pretty-log.ts";

test("a line for a person is one line, whatever is in it", () => {
  const lines: string[] = [];
  const log = createPrettyLog({ write: (line) => lines.push(line) }, () =>
    Date.UTC(2026, 0, 31, 9, 30, 0, 5),
  );
  log.warn("a request\nwith \u001b[31mcolors", {
    status: 503,
    client: null,
    route: "/sources\r\n/x",
  });
  expect(lines).toEqual([
    "\u001b[33m09:30:00.005 warn \u001b[0m a request?with ?[31mcolors status=503 route=/sources?/x\n",
  ]);
});
