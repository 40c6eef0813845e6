/**
 * "svc-connectors/host": what the CLI, control, conformance and bench may import. Start at createHost.
 */

export { connectors as listConnectors, connectorsFlags } from "./cli/connectors.ts";
export { exitCode } from "./cli/exit.ts";
export { readConfig, readText } from "./cli/files.ts";
export { type Flags, oneOf, parseOptions, wholeNumber } from "./cli/options.ts";
export { formatBytes, formatCount, formatDuration } from "./cli/progress.ts";
export { selectStreams } from "./cli/selection.ts";
export { formatTable } from "./cli/table.ts";
export type { Surroundings, Terminal } from "./cli/terminal.ts";
export { printable, suggestion, UsageError } from "./cli/usage.ts";
export { type Command, type Commands, main } from "./cli.ts";
export { createScaledClock, systemClock } from "./clock.ts";
export { tuneCollector } from "./collector.ts";
export type {
  CatalogStream,
  ConfiguredCatalog,
  ConfiguredStream,
  Manifest,
  StreamDescriptor,
  StreamState,
} from "./contract/catalog.ts";
export { streamLabel } from "./contract/catalog.ts";
export type { Clock } from "./contract/clock.ts";
export type {
  Commit, DestinationSink, DestinationStream, DestinationSyncMode, QueryColumn, QueryOrder, QueryResult, WriteOrder,
} from "./contract/destination.ts"; // biome-ignore format: a list of names
export { destinationSyncModes } from "./contract/destination.ts";
export type {
  CheckResult, ConnectorReference, Host, HostEvent, HostOptions, ProviderRequest, ReadRequest, ReadSummary, StreamSummary, VerbOptions, WorkerLimits,
} from "./contract/host.ts"; // biome-ignore format: a list of names
export type { JsonObject, JsonValue } from "./contract/json.ts";
export type {
  BatchResult, FailedRow, RowBatch, RowChange, RowChangeKind, RowField, RowObject, RowOperation, RowOrder, RowReason,
} from "./contract/row-destination.ts"; // biome-ignore format: a list of names
export { identifyingOperations, rowChangeKinds, rowOperations, rowReasons } from "./contract/row-destination.ts";
export type { LineFormat, Sink, StreamStatus } from "./contract/sink.ts";
export { createMemoryTokenStore, type StoredTokens, type TokenStore, type Tokens } from "./contract/token-store.ts";
export {
  createDestinationHost, type DestinationHost, type DestinationHostOptions, type DestinationOptions, type OpenDestination, type OpenQuery,
} from "./destinations.ts"; // biome-ignore format: a list of names
export { type BaseUrlRule, checkApprovedHosts, checkBaseUrl } from "./egress/base-url.ts";
export type { Broker, HttpLimits, NetworkSeams, NetworkSettings, SeenExchange } from "./egress/broker.ts";
export { defaultHttpLimits } from "./egress/http-broker.ts";
export { checkPublicUrl } from "./egress/public-url.ts";
export { createTransport, type Transport } from "./egress/transport.ts";
export { ConnectorError, type ErrorCode, type ErrorDetails, type ErrorRecord, errorTable } from "./errors.ts";
export { packageRoot } from "./location.ts";
export { type AccessTokenOptions, validAccessToken } from "./oauth/access-token.ts";
export { type Refusal, refusals } from "./oauth/callback.ts";
export { type Account, findAccount, isAuthorizable, type OAuthClient } from "./oauth/declaration.ts";
export { type FinishOptions, finishAuthorization, type GrantedAuthorization } from "./oauth/finish.ts";
export {
  type AuthorizationContext, createMemoryPendingStore, hashState, type PendingAuthorization, type PendingStore,
} from "./oauth/pending.ts"; // biome-ignore format: a list of names
export { type RevocationResult, type RevokeOptions, revokeTokens } from "./oauth/revoke.ts";
export { type StartedAuthorization, type StartOptions, startAuthorization } from "./oauth/start.ts";
export type { AuthorizationNetwork } from "./oauth/token-transport.ts";
export { runProcess } from "./process.ts";
export {
  type BuiltInDestination,
  builtInConnectors,
  builtInDestinations,
  builtInRowDestinations,
  findConnector,
  findDestination,
  findRowDestination,
} from "./registry.ts";
export {
  createRowDestinationHost, type RowDestinationHost, type RowDestinationHostOptions, type RowDestinationOptions,
} from "./row-destinations.ts"; // biome-ignore format: a list of names
export { type Finding, scanDeep } from "./sanitize/deep-scan.ts";
export { stringifyExact } from "./sanitize/exact-json.ts";
export { createScanner, type Range, type Scanner } from "./sanitize/scanner.ts";
export { type SecretView, secretViews } from "./sanitize/secret-views.ts";
export { createSecretRegistry, type SecretRegistry } from "./sanitize/secrets.ts";
export { findForbiddenFields, findShapes, type Shape } from "./sanitize/shape-guards.ts";
export { sanitizeText } from "./sanitize/text.ts";
export {
  controlSettingNames,
  loadSettings as loadNetworkSettings,
  ownNetworks,
  readSettings,
  type SettingsFile,
} from "./settings.ts";
export { createAirbyteSink, createMessageWriter, eventLevel, eventText, writeErrors } from "./sinks/airbyte.ts";
export { openDuckdbOutput } from "./sinks/duckdb.ts";
export { openJsonlOutput } from "./sinks/jsonl.ts";
export type { OutputSink } from "./sinks/output.ts";
export { lockFile } from "./sinks/output-lock.ts";
export type { DestinationManifest } from "./spec/destination-manifest.ts";
export type { RowDestinationManifest } from "./spec/row-manifest.ts";
export { isSecret } from "./spec/secret-fields.ts";
export { compileSchema, copyJson, type Fault } from "./spec/validation.ts";
export { createHost } from "./sync.ts";
export { packageVersion } from "./version.ts";
export type { SandboxLevel } from "./worker/pool.ts";
