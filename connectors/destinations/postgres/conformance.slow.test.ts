import { conformance } from "svc-connectors/conformance/vitest";
import { test } from "vitest";
import { findPostgres } from "../../../simulators/postgres-server.ts";

if (findPostgres()) await conformance("postgres-destination");
else test.skip("the rules for destinations need an installed PostgreSQL");
