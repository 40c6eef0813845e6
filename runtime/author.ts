/**
 * "svc-connectors": all that a connector may import. Start at defineSource; docs/authors.md is the
 * guide.
 */
export type { Static } from "typebox";
export { Type } from "typebox";
export {
  type Batch,
  type BatchField,
  type Column,
  type ColumnKind,
  type ColumnValues,
  type Encoding,
  endlessDay,
  endlessInstant,
  isValid,
  type RowNote,
  type TextValues,
} from "./contract/batch.ts";
export type { Clock } from "./contract/clock.ts";
export type {
  BaseContext,
  BodyOptions,
  Context,
  DatabaseContext,
  HttpClient,
  HttpContext,
  HttpResponse,
  Log,
  LogFields,
  PathSegment,
  Query,
  RequestOptions,
} from "./contract/context.ts";
export type {
  CustomAction,
  CustomAnswer,
  CustomBackoffStrategy,
  CustomErrorHandler,
  CustomPage,
  CustomPaginationStrategy,
  CustomParent,
  CustomPartitionRouter,
  CustomRecord,
  CustomRecordExtractor,
  CustomRecordFilter,
  CustomRequestScope,
  CustomSchemaLoader,
  CustomScope,
  CustomStateMigration,
  CustomTransformation,
} from "./contract/custom-components.ts";
export {
  type ApprovedUrl,
  type Auth,
  type Authorization,
  approvedUrl,
  basic,
  bearer,
  bodyFields,
  type Egress,
  type ErrorRule,
  type HttpEgress,
  headers,
  http,
  identifier,
  type MysqlEgress,
  mysql,
  oauth2,
  type PostgresEgress,
  perMinute,
  perSecond,
  postgres,
  queryFields,
  type RateLimit,
  type TokenAuthorization,
} from "./contract/egress.ts";
export { ConnectorError, type ErrorCode } from "./contract/errors.ts";
export type { JsonObject, JsonSchema, JsonValue } from "./contract/json.ts";
export { mysqlServer, mysqlSettings } from "./contract/mysql-settings.ts";
export { batch, checkpoint, type Output, type Row, record, records } from "./contract/output.ts";
export { postgresServer, postgresSettings } from "./contract/postgres-settings.ts";
export {
  defineSource,
  type ReadRun,
  type Source,
  type StreamBeginning,
} from "./contract/source.ts";
export {
  exclusive,
  Nullable,
  type PublicConfig,
  type Secret,
  secret,
  Timestamp,
  withDefault,
} from "./contract/spec.ts";
export type {
  CursorProposal,
  RowCondition,
  SelectedStream,
  Stream,
  SyncMode,
} from "./contract/stream.ts";
export { streamFields } from "./wire/columns/fields.ts";
export { parseExact, rawJson } from "./wire/exact-json.ts";
export { pagesByCursor, pagesByNumber, pagesByOffset } from "./worker/paging.ts";
