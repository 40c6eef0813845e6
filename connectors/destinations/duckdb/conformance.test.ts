import { conformance } from "svc-connectors/conformance/vitest";
import { kitOptions } from "../../../tests/effort.ts";

await conformance("duckdb", kitOptions);
