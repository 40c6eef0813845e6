import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./spec-05-capabilities-are-real.ts";

testRule(rule, {
  defects: {
    "spec-05-version-without-order": /1\.0\.0-beta\.\.2/,
    "spec-05-resumable-without-states": /tags declares is_resumable/,
    "spec-05-denies-incremental": /supportsIncremental: false, but .* notes/,
    "spec-05-resuming-never-recorded": /notes declares incremental, but no recording/,
  },
});
