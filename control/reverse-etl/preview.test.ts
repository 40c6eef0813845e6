import { expect, test } from "vitest";
import { createId } from "../contract/ids.ts";
import { hidden, masked } from "./preview.ts";

test.each([
  "api_token",
  "db_pwd",
  "ClientSecret",
  "connection_string",
  "session_cookie",
])("nothing under %s is shown", (column) => expect(masked(column, "open sesame")).toBe(hidden));

test.each([
  ["token_count", 12],
  ["password_expires_at", "2026-01-01"],
  ["next_page_token", "7"],
  ["author", "Ada"],
  ["account_id", "a-1"],
])("%s is no secret", (column, value) => expect(masked(column, value)).toBe(value));

test("of a name or an address the beginning is shown, of a long text without words nothing", () => {
  expect(masked("first_name", "Ada")).toBe("A***");
  expect(masked("contact", "ada@example.com")).toBe("***@example.com");
  const job = createId("job");
  expect(masked("_svc_job_id", job)).toBe(job);
  expect(masked("note", "kZ8vQm2LxW5rT9kZ8vQm2LxW5rT9")).toBe(hidden);
});
