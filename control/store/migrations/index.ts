/** All migrations in their order. One that was released is never changed. */
import type { Migration } from "kysely/migration";
import * as control from "./0001-control.ts";
import * as governance from "./0002-governance.ts";
import * as approvals from "./0003-approvals.ts";
import * as vaultKeys from "./0004-vault-keys.ts";
import * as pipelines from "./0005-pipelines.ts";
import * as reverseEtl from "./0006-reverse-etl.ts";
import * as jobQueue from "./0007-job-queue.ts";
import * as credentialUses from "./0008-credential-uses.ts";
import * as jobsAndBudgets from "./0009-jobs-and-budgets.ts";
import * as addedConnectors from "./0010-added-connectors.ts";
import * as namesAndWorkspaces from "./0011-names-and-workspaces.ts";
import * as events from "./0012-events.ts";
import * as sessionsBySessions from "./0016-sessions-by-sessions.ts";
import * as longLists from "./0017-long-lists.ts";
import * as rowsPerDay from "./0020-rows-per-day.ts";
import * as detectDeletes from "./0021-detect-deletes.ts";
import * as hashesAndFilters from "./0022-hashes-and-filters.ts";
import * as parallelStreams from "./0023-parallel-streams.ts";
import * as manifestConnectors from "./0024-manifest-connectors.ts";
import * as replicationLag from "./0025-replication-lag.ts";
import * as imageConnectors from "./0027-image-connectors.ts";
import * as connectorReports from "./0028-connector-reports.ts";
import * as connectorVersions from "./0029-connector-versions.ts";
import * as webhookFormats from "./0030-webhook-formats.ts";
import * as approvalChanges from "./0031-approval-changes.ts";

export const migrations: Readonly<Record<string, Migration>> = {
  "0001-control": control,
  "0002-governance": governance,
  "0003-approvals": approvals,
  "0004-vault-keys": vaultKeys,
  "0005-pipelines": pipelines,
  "0006-reverse-etl": reverseEtl,
  "0007-job-queue": jobQueue,
  "0008-credential-uses": credentialUses,
  "0009-jobs-and-budgets": jobsAndBudgets,
  "0010-added-connectors": addedConnectors,
  "0011-names-and-workspaces": namesAndWorkspaces,
  "0012-events": events,
  "0016-sessions-by-sessions": sessionsBySessions,
  "0017-long-lists": longLists,
  "0020-rows-per-day": rowsPerDay,
  "0021-detect-deletes": detectDeletes,
  "0022-hashes-and-filters": hashesAndFilters,
  "0023-parallel-streams": parallelStreams,
  "0024-manifest-connectors": manifestConnectors,
  "0025-replication-lag": replicationLag,
  "0027-image-connectors": imageConnectors,
  "0028-connector-reports": connectorReports,
  "0029-connector-versions": connectorVersions,
  "0030-webhook-formats": webhookFormats,
  "0031-approval-changes": approvalChanges,
};
