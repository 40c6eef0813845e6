/**
 * "svc-connectors/host": what the CLI, control, conformance and bench may import. Start at
 * createHost.
 */

export { answer, jsonFlag } from "./cli/answer.ts";
export { noConnector } from "./cli/connector.ts";
export { listConnectors } from "./cli/connectors.ts";
export { exitCode } from "./cli/exit.ts";
export { parseText, readConfig, readText } from "./cli/files.ts";
export { main } from "./cli/main.ts";
export {
  addSettingsOption,
  allowHostFlag,
  allowLocalFlag,
  exposeSecretFlag,
  oneOf,
  wholeNumber,
} from "./cli/options.ts";
export type { CommandBuilder, Commands } from "./cli/program.ts";
export { formatBytes, formatCount, formatDuration } from "./cli/progress.ts";
export { runProcess } from "./cli/run-process.ts";
export { selectStreams } from "./cli/selection.ts";
export {
  controlSettingNames,
  loadSettings as loadNetworkSettings,
  readSettings,
  type SettingsFile,
} from "./cli/settings.ts";
export { formatTable } from "./cli/table.ts";
export type { CliEnvironment, Terminal } from "./cli/terminal.ts";
export { CommandFailed, printable, suggestion, UsageError } from "./cli/usage.ts";
export type {
  ActivationCommand,
  ActivationObject,
  BatchResult,
  FailedRow,
  RowBatch,
  RowChange,
  RowChangeKind,
  RowField,
  RowOperation,
  RowReason,
} from "./contract/activation.ts";
export {
  identifyingOperations,
  rowChangeKinds,
  rowOperations,
  rowReasons,
} from "./contract/activation.ts";
export { type Batch, type BatchField, batchBytes, type Column, isValid } from "./contract/batch.ts";
export {
  type ConnectorCard,
  connectorCategories,
  connectorFolders,
  connectorKinds,
  releaseStages,
} from "./contract/card.ts";
export { cardSchema } from "./contract/card-schema.ts";
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
  ColumnTypeChange,
  Commit,
  CompareCommand,
  ComparedKeys,
  DeleteMode,
  DestinationSink,
  DestinationStream,
  DestinationSyncMode,
  QueryColumn,
  QueryCommand,
  QueryResult,
  WriteCommand,
} from "./contract/destination.ts";
export { deleteModes, destinationSyncModes } from "./contract/destination.ts";
export {
  ConnectorError,
  type ErrorCode,
  type ErrorDetails,
  type ErrorRecord,
  errorTable,
} from "./contract/errors.ts";
export {
  type CheckResult,
  type ConnectorCall,
  type ConnectorPin,
  type ConnectorReference,
  type Host,
  type HostEvent,
  type HostOptions,
  maxParallelStreams,
  type PinnedSandbox,
  type ProviderRequest,
  pinnedSandboxes,
  type ReadRequest,
  type ReadSummary,
  type SandboxLevel,
  type StreamSummary,
  type VerbOptions,
  type WorkerLimits,
} from "./contract/host.ts";
export { type ContainedImage, hostNamePattern, imageMemoryMb } from "./contract/image.ts";
export { isJsonObject, type JsonObject, type JsonValue } from "./contract/json.ts";
export type {
  HttpLimits,
  NetworkSeams,
  NetworkSettings,
  SeenExchange,
} from "./contract/network.ts";
export type { Booking, RateLedger } from "./contract/rate-ledger.ts";
export type { LineFormat, Sink, StreamStatus } from "./contract/sink.ts";
export {
  exclusiveKeyword,
  isSecret,
  releaseKeyword,
  schemaAlternatives,
} from "./contract/spec.ts";
export { type RowCondition, rowOperators } from "./contract/stream.ts";
export {
  createMemoryTokenStore,
  type StoredTokens,
  type TokenStore,
  type Tokens,
} from "./contract/token-store.ts";
export {
  type ActivationHost,
  type ActivationOptions,
  createActivationHost,
} from "./destination/activation-host.ts";
export { deletesProblem, keysOnly, reportsDeletes } from "./destination/deletes.ts";
export {
  createDestinationHost,
  type DestinationHost,
  type OpenComparison,
  type OpenDestination,
  type OpenQuery,
} from "./destination/destination-host.ts";
export type { DestinationHostOptions, DestinationOptions } from "./destination/host.ts";
export { type BaseUrlRule, checkApprovedHosts, checkBaseUrl } from "./egress/base-url.ts";
export type { Broker } from "./egress/broker.ts";
export { defaultHttpLimits } from "./egress/http-broker.ts";
export { checkPublicUrl } from "./egress/public-url.ts";
export { createTransport, type Transport } from "./egress/transport.ts";
export { signingKey, signWebhook } from "./egress/webhook-signature.ts";
export { type Finding, scanDeep } from "./filter/deep-scan.ts";
export { createScanner, type Range, type Scanner } from "./filter/scanner.ts";
export {
  isPagingName,
  isSecretName,
  type SecretNameLevel,
  secretNameLevels,
} from "./filter/secret-names.ts";
export { type SecretView, secretViews } from "./filter/secret-views.ts";
export { createSecretRegistry, type SecretRegistry } from "./filter/secrets.ts";
export {
  type FoundShape,
  findForbiddenFields,
  findShapes,
} from "./filter/shape-guards.ts";
export { sanitizeText } from "./filter/text.ts";
export type { BuiltInConnector } from "./host/cards.ts";
export { createScaledClock, systemClock } from "./host/clock.ts";
export { hasOwnComponents } from "./host/code-access.ts";
export {
  type ConnectorCode,
  manifestCode,
  manifestDigest,
  readConnectorCode,
} from "./host/code-digest.ts";
export { tuneCollector } from "./host/collector.ts";
export { createHost } from "./host/create-host.ts";
export { requireRunnable } from "./host/pins.ts";
export {
  builtInActivations,
  builtInDestinations,
  builtInSources,
  findActivationConnector,
  findConnector,
  findDestination,
  findInstalledConnector,
} from "./host/registry.ts";
export { packageVersion } from "./host/version.ts";
export { type Authority, type CertificateFlaw, openAuthority } from "./image/authority.ts";
export { askDocker } from "./image/docker.ts";
export { findImage, parseImageName } from "./image/find-image.ts";
export { type OpenImageOptions, openImage } from "./image/open-image.ts";
export { isRunning, proxyEnvironment } from "./image/run-folder.ts";
export { type AccessTokenOptions, validAccessToken } from "./oauth/access-token.ts";
export { type Refusal, refusals } from "./oauth/callback.ts";
export {
  type Account,
  findAccount,
  findRotatingField,
  isAuthorizable,
  type OAuthClient,
} from "./oauth/declaration.ts";
export {
  type FinishOptions,
  finishAuthorization,
  type GrantedAuthorization,
} from "./oauth/finish.ts";
export {
  type AuthorizationContext,
  createMemoryPendingStore,
  hashState,
  type PendingAuthorization,
  type PendingStore,
} from "./oauth/pending.ts";
export { type RevocationResult, type RevokeOptions, revokeTokens } from "./oauth/revoke.ts";
export { type StartedAuthorization, type StartOptions, startAuthorization } from "./oauth/start.ts";
export type { AuthorizationNetwork } from "./oauth/token-transport.ts";
export {
  createAirbyteSink,
  createMessageWriter,
  eventLevel,
  eventText,
  writeErrors,
} from "./sinks/airbyte.ts";
export { openDuckdbOutput } from "./sinks/duckdb.ts";
export { openJsonlOutput } from "./sinks/jsonl.ts";
export type { OutputSink } from "./sinks/output.ts";
export { lockFile } from "./sinks/output-lock.ts";
export type { ActivationManifest, DestinationManifest } from "./spec/destination-manifest.ts";
export { hashProblem, withHashedFields } from "./spec/hashed-fields.ts";
export { isLocal, localUrlOf } from "./spec/local-url.ts";
export { filterProblem } from "./spec/row-filter.ts";
export { compileSchema, copyJson, type Fault } from "./spec/validation.ts";
export { type CanonicalNumbers, canonicalize } from "./wire/canonical-json.ts";
export { isPlainObject, stringifyExact } from "./wire/exact-json.ts";
export { parsePointer, toPointer, valueAt } from "./wire/json-pointer.ts";
export { packageRoot } from "./wire/location.ts";
export { manifestName } from "./wire/manifest-name.ts";
export {
  duplicateKey,
  parseYamlDocument,
  type YamlDocument,
  YamlFault,
} from "./wire/yaml-document.ts";
