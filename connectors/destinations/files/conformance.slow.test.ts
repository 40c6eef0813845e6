import { conformance } from "svc-connectors/conformance/vitest";

await conformance("files");
