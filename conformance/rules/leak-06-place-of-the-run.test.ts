import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./leak-06-place-of-the-run.ts";

testRule(rule, {
  defects: {
    "leak-06-host-and-attempt-in-message": /WORKER_JOB_ATTEMPT of the run, "8317"/,
    "leak-06-address-in-message": /a private address, "10\.20\.0\.7"/,
  },
});
