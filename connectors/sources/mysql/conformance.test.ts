import { conformance } from "svc-connectors/conformance/vitest";
import { kitOptions } from "../../../tests/effort.ts";

await conformance(new URL("./index.ts", import.meta.url), kitOptions);
