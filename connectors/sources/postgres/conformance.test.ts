import { conformance } from "svc-connectors/conformance/vitest";
import { choose, kitOptions } from "../../../tests/effort.ts";

/** Of the core, those that look at statements and sessions instead of requests; else all. */
const rules = choose({
  quick: ["CHECK-01", "CHECK-04", "CHECK-06", "READ-02", "READ-04", "NET-04", "LEAK-01"],
  whole: [],
});

await conformance(new URL("./index.ts", import.meta.url), { ...kitOptions, rules });
