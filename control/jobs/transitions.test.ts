import { expect, test } from "vitest";
import { jobStatuses } from "../store/tables.ts";
import { finalStatuses, isFinal, statusesBefore } from "./transitions.ts";

/** Every pair that is allowed, written out. */
const allowed = new Set([
  "pending queued",
  "pending running",
  "pending failed",
  "pending cancelled",
  "pending incomplete",
  "queued pending",
  "queued running",
  "queued cancelled",
  "queued failed",
  "running incomplete",
  "running succeeded",
  "running failed",
  "running cancelled",
  "incomplete pending",
  "incomplete running",
  "incomplete failed",
  "incomplete cancelled",
  "incomplete succeeded",
]);

test.each(
  jobStatuses.flatMap((from) => jobStatuses.map((to) => [from, to] as const)),
)("%s → %s is as decided", (from, to) =>
  expect(statusesBefore(to).includes(from)).toBe(allowed.has(`${from} ${to}`)));

test("what has ended stays so", () => {
  expect(finalStatuses).toEqual(["succeeded", "failed", "cancelled"]);
  expect(isFinal("incomplete")).toBe(false);
});
