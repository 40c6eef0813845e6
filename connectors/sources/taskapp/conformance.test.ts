import { conformance } from "svc-connectors/conformance/vitest";
import { kitEffort } from "../../../tests/effort.ts";

await conformance(new URL("./index.ts", import.meta.url), { effort: kitEffort });
