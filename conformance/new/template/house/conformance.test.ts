import { conformance } from "svc-connectors/conformance/vitest";

await conformance(new URL("./index.ts", import.meta.url));
