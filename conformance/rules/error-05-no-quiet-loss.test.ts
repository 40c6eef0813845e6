import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./error-05-no-quiet-loss.ts";

testRule(rule, {
  defects: {
    "error-05-not-found-is-the-end": /answered 404.*missing/,
    "error-05-forbidden-folders-left-out": /the id f[12] of GET .*folders is answered 403/,
    "error-05-missing-notes-of-a-folder-there": /the id f2 of GET .*folders is there.*answered 404/,
    "error-05-break-on-error": /tags, request 2/,
    "error-05-caught-and-empty": /folders, request 1/,
    "error-05-no-word-of-why": /does not say why/,
    "error-05-not-offered-after-rows": /tags, request 2 answered .*not_offered.*missing/,
    "error-05-unauthorized-skips-the-stream": /answered 401/,
    "retry-07-secondary-limit-skips": /answered 403/,
    "retry-06-page-moves-on": /rows? missing/,
  },
});
