import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-13-changed-after-the-saved-moment.ts";

testRule(rule, {
  defects: {
    "state-13-offset-is-the-end-of-time": /not even a row that changed days later/,
    "state-13-asked-in-whole-seconds": /does not give all of them: .*row/,
    "state-13-offset-cut-off": /with the offset \+02:00; .*does not give all of them/,
    "state-13-plus-becomes-a-space": /asks for since=.* 02:00, which is no time/,
    "state-13-older-by-its-text": /and later ones like .*does not give all of them/,
    "state-13-windows-a-second-apart":
      /at the borders of its windows.*gives those of .*T23:59:59\./,
    "state-13-windows-end-before-midnight":
      /at the borders of its windows.*gives those of .*T23:59:59\.999/,
    "state-13-last-window-cut-off": /at the borders of its windows.*gives those of /,
  },
  good: ["windows-of-a-day", "one-window-until-now", "windows-until-now", "token-beside-a-time"],
});
