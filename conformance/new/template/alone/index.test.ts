import { conformance } from "svc-connectors/conformance/node-test";

await conformance(new URL("./index.ts", import.meta.url));
