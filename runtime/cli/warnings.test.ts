import { expect, test } from "vitest";
import type { HostEvent } from "../contract/host.ts";
import { collectWarnings, describeWarning } from "./warnings.ts";

const skipped = (stream: string, reason: string): HostEvent => ({
  type: "log",
  level: "warn",
  message: "This table is skipped.",
  fields: { stream, reason },
});
const many = Array.from({ length: 12 }, (_, index) => `public.t${index}`);

test("warnings of one kind are one line, which names some of the streams; each is told once", () => {
  const warnings = collectWarnings();
  for (const stream of [...many, ...many]) warnings.event(skipped(stream, "no right to select"));
  warnings.event(skipped("public.Dup", "its name differs by case"));
  warnings.event({ type: "log", level: "info", message: "Not a warning.", fields: {} });
  warnings.event({ type: "log", level: "warn", message: "Slow.", fields: { seconds: 3 } });
  expect(warnings.lines()).toEqual([
    `This table is skipped (no right to select): ${many.slice(0, 8).join(", ")} and 4 more`,
    "This table is skipped (its name differs by case): public.Dup",
    "Slow (seconds: 3)",
  ]);
});

test("streams that nobody asked for are left out, what is about no stream is not", () => {
  const warnings = collectWarnings();
  for (const stream of many) warnings.event(skipped(stream, "no right"));
  warnings.event({ type: "log", level: "warn", message: "Slow.", fields: {} });
  expect(warnings.lines((stream) => stream === "public.t3")).toEqual([
    "This table is skipped (no right): public.t3",
    "Slow.",
  ]);
});

test("a warning is safe for a terminal", () => {
  expect(describeWarning(skipped("a\u001b[2J\nb", "c\u0007"))).toBe(
    "This table is skipped (c?): a?[2J?b",
  );
});
