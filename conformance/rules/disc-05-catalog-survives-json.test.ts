import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./disc-05-catalog-survives-json.ts";

testRule(rule, {
  defects: {
    "disc-05-catalog-compared-as-text": /does not accept its own catalog/,
    "disc-05-sync-modes-in-a-set": /tags names no supported_sync_modes/,
    "disc-05-not-a-number": /folders lost something .*\/name\/order/,
  },
});
