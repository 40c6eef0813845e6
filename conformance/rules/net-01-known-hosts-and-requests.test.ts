import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./net-01-known-hosts-and-requests.ts";

testRule(rule, {
  defects: {
    "net-01-failures-told-elsewhere": /collector-elsewhere/,
    "net-01-asks-for-the-version": /GET .*\/version/,
    "net-01-base-path-lost": /example.com\/tags; nothing of the kind/,
  },
});
