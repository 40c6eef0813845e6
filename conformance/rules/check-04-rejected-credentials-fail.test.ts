import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./check-04-rejected-credentials-fail.ts";

testRule(rule, {
  defects: {
    "check-04-asks-who-it-is":
      /so that no stream can be read, check succeeded; it has to fail\. It asks for .*\/me, which/,
    "check-04-first-request-of-every-read": /so that no stream can be read, check succeeded/,
    "check-04-renewed-and-known": /so that no stream can be read, check succeeded/,
    "check-04-refusal-inside-200": /answered 200 with .*missing_scope.*check succeeded/,
    "check-04-data-forbidden-is-fine":
      /answered 403, so that no stream can be read, check succeeded/,
    "check-04-any-answer-will-do": /answered 403, so that no stream can be read, check succeeded/,
    "check-04-forbidden-data-are-a-note":
      /answered 403, so that no stream can be read, check succeeded/,
    "check-04-missing-permission-is-an-outage": /403.* as transient/,
    "check-04-forbidden-is-good-enough": /403, check succeeded/,
    "check-04-not-found-is-no-refusal": /answered 404, so that no stream .* check succeeded/,
    "check-04-empty-answer-will-do": /answered 200 with an empty body, .* check succeeded/,
  },
  good: ["who-it-is-may-be-forbidden", "each-stream-is-asked-for"],
});
