/**
 * A component of a manifest: an object with a type, of which every property is known or refused.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../contract/json.ts";
import { type CustomCode, type CustomPart, type CustomType, noCode } from "../custom/code.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { readLiteral } from "../expressions/literals.ts";
import { compileTemplate, type Template } from "../expressions/template.ts";
import { isMapping, type PlainValue, toText, truth } from "../expressions/values.ts";
import { invalid, Unsupported } from "./invalid.ts";
import { isLacking } from "./lacking.ts";

export interface Component {
  readonly type: string;
  readonly path: string;
  /** As it is written, all of its properties. */
  readonly value: JsonObject;
  readonly parameters: JsonObject;
  /** A property, or the parameter of that name that was handed down. */
  get(name: string): JsonValue | undefined;
  /** The place of a property, for messages. */
  at(name: string): string;
  /** Its author's code in TypeScript; undefined for a component of svc's own. */
  readonly custom: CustomPart | undefined;
  /** Where components within it are found that their author has written. */
  readonly code: CustomCode;
  /** A property that is a component of one of these types; undefined when it is not there. */
  child(name: string, ...types: readonly ComponentType[]): Component | undefined;
  /** The same, for a list of them. */
  children(name: string, ...types: readonly ComponentType[]): Component[];
  /** A property that is text, as a template. */
  template(name: string): Template | undefined;
  /** @throws CONNECTOR_INVALID when it is not there */
  required<T>(name: string, value: T | undefined): T;
}

/** The components that are supported, and of each the properties. Everything else is refused. */
export const supported = {
  DeclarativeSource:
    "check streams dynamic_streams version spec definitions schemas metadata concurrency_level api_budget description max_concurrent_async_job_count stream_groups",
  CheckStream: "stream_names dynamic_streams_check_configs config_overrides",
  DynamicStreamCheckConfig: "dynamic_stream_name stream_count",
  CheckDynamicStream: "stream_count use_check_availability config_overrides",
  Spec: "connection_specification documentation_url advanced_auth config_normalization_rules",
  ConfigNormalizationRules: "config_migrations transformations validations",
  ConfigMigration: "transformations",
  ConfigAddFields: "fields condition",
  ConfigRemoveFields: "field_pointers condition",
  ConfigRemapField: "map field_path",
  DpathValidator: "field_path validation_strategy",
  PredicateValidator: "value validation_strategy",
  ValidateAdheresToSchema: "base_schema",
  ConcurrencyLevel: "default_concurrency max_concurrency",
  HTTPAPIBudget:
    "policies ratelimit_reset_header ratelimit_remaining_header status_codes_for_ratelimit_hit",
  FixedWindowCallRatePolicy: "period call_limit matchers",
  MovingWindowCallRatePolicy: "rates matchers",
  UnlimitedCallRatePolicy: "matchers",
  Rate: "limit interval",
  DeclarativeStream:
    "name retriever primary_key schema_loader transformations incremental_sync stream_cursor_field state_migrations",
  LegacyToPerPartitionStateMigration: "",
  StateDelegatingStream: "name full_refresh_stream incremental_stream",
  ConditionalStreams: "streams condition",
  DynamicDeclarativeStream: "name stream_template components_resolver use_parent_parameters",
  ConfigComponentsResolver: "stream_config components_mapping",
  StreamConfig: "configs_pointer default_values",
  ParametrizedComponentsResolver: "stream_parameters components_mapping",
  StreamParametersDefinition: "list_of_parameters_for_stream",
  HttpComponentsResolver: "retriever components_mapping",
  ComponentMappingDefinition: "field_path value value_type create_or_update condition",
  SimpleRetriever:
    "name requester record_selector paginator partition_router decoder ignore_stream_slicer_parameters_on_paginated_requests",
  AsyncRetriever:
    "record_selector status_mapping status_extractor download_target_extractor download_extractor creation_requester polling_requester polling_job_timeout failed_retry_wait_time_in_seconds download_target_requester download_requester download_paginator abort_requester delete_requester partition_router decoder download_decoder",
  AsyncJobStatusMap: "running completed failed timeout skipped",
  ResponseToFileExtractor: "preserve_na_values",
  GzipDecoder: "decoder",
  ZipfileDecoder: "decoder",
  XmlDecoder: "",
  JsonItemsDecoder: "items_path encoding",
  JsonDecoder: "",
  JsonlDecoder: "",
  IterableDecoder: "",
  CsvDecoder: "delimiter encoding set_values_to_none",
  HttpRequester:
    "url_base url path http_method authenticator request_parameters request_headers request_body_json request_body_data request_body error_handler use_cache connect_timeout_in_seconds read_timeout_in_seconds use_tcp_keepalive query_properties fetch_properties_from_endpoint",
  QueryProperties: "property_list always_include_properties property_chunking",
  PropertyChunking: "property_limit_type property_limit record_merge_strategy",
  GroupByKeyMergeStrategy: "key",
  PropertiesFromEndpoint: "property_field_path retriever",
  RequestBodyJsonObject: "value",
  RequestBodyUrlEncodedForm: "value",
  RequestBodyPlainText: "value",
  RequestBodyGraphQL: "value",
  NoAuth: "",
  BearerAuthenticator: "api_token",
  ApiKeyAuthenticator: "api_token header inject_into",
  BasicHttpAuthenticator: "username password",
  OAuthAuthenticator:
    "client_id client_id_name client_secret client_secret_name refresh_token refresh_token_name token_refresh_endpoint access_token_name expires_in_name token_expiry_date token_expiry_date_format access_token_value refresh_token_error_status_codes refresh_token_error_key refresh_token_error_values grant_type grant_type_name refresh_request_body refresh_request_headers scopes use_profile_assertion profile_assertion refresh_token_updater send_refresh_request_as_query_params",
  JwtAuthenticator:
    "secret_key base64_encode_secret_key algorithm token_duration header_prefix jwt_headers additional_jwt_headers jwt_payload additional_jwt_payload passphrase request_option",
  SessionTokenAuthenticator:
    "login_requester session_token_path expiration_duration request_authentication decoder",
  Bearer: "",
  ApiKey: "inject_into api_token",
  SelectiveAuthenticator: "authenticator_selection_path authenticators",
  DefaultErrorHandler: "response_filters backoff_strategies max_retries",
  CompositeErrorHandler: "error_handlers",
  HttpResponseFilter:
    "action error_message error_message_contains http_codes predicate failure_type",
  ConstantBackoffStrategy: "backoff_time_in_seconds jitter_range_in_seconds",
  ExponentialBackoffStrategy: "factor jitter_range_in_seconds",
  WaitTimeFromHeader: "header regex max_waiting_time_in_seconds",
  WaitUntilTimeFromHeader: "header regex min_wait max_waiting_time_in_seconds",
  WaitTimeFromResponse: "wait_time_in_seconds max_waiting_time_in_seconds",
  NoPagination: "",
  DefaultPaginator: "pagination_strategy page_size_option page_token_option decoder",
  CursorPagination: "cursor_value page_size stop_condition decoder",
  OffsetIncrement: "page_size inject_on_first_request",
  PageIncrement: "page_size start_from_page inject_on_first_request",
  RequestOption: "inject_into field_name field_path",
  RequestPath: "",
  RecordSelector: "extractor record_filter transform_before_filtering schema_normalization",
  DpathExtractor: "field_path record_expander decoder",
  CombinedExtractor: "extractors mode",
  RecordExpander:
    "expand_records_from_field remain_original_record on_no_records parent_fields merge_parent",
  ParentFieldPath: "parent_path record_path",
  RecordFilter: "condition",
  AddFields: "fields condition",
  AddedFieldDefinition: "path value value_type",
  RemoveFields: "field_pointers condition",
  KeysToLower: "",
  KeysToSnakeCase: "",
  KeysReplace: "old new",
  FlattenFields: "flatten_lists",
  DpathFlattenFields: "field_path delete_origin_value replace_record key_transformation",
  KeyTransformation: "prefix suffix",
  ListPartitionRouter: "values cursor_field request_option",
  SubstreamPartitionRouter: "parent_stream_configs",
  UnionPartitionRouter: "partition_routers partition_field",
  GroupingPartitionRouter: "group_size underlying_partition_router deduplicate",
  ParentStreamConfig:
    "stream parent_key partition_field request_option incremental_dependency extra_fields",
  DatetimeBasedCursor:
    "cursor_field cursor_datetime_formats start_datetime start_time_option end_datetime end_time_option datetime_format cursor_granularity is_data_feed is_client_side_incremental is_compare_strictly global_substream_cursor lookback_window partition_field_start partition_field_end step clamping allow_catalog_defined_cursor_field",
  IncrementingCountCursor:
    "cursor_field start_value start_value_option allow_catalog_defined_cursor_field",
  MinMaxDatetime: "datetime datetime_format max_datetime min_datetime",
  InlineSchemaLoader: "schema",
  JsonFileSchemaLoader: "file_path",
  DynamicSchemaLoader: "retriever schema_type_identifier schema_transformations schema_filter",
  SchemaTypeIdentifier: "key_pointer type_pointer types_mapping schema_pointer",
  TypesMap: "target_type current_type condition",
  ComplexFieldType: "field_type items",
} as const;
export type Type = keyof typeof supported;
export type ComponentType = Type | CustomType;

/** Every component has these, and they change nothing here. */
const general = ["type", "$parameters", "description", "$options"];

/** A property that changes nothing: none of the published schema's; the document has no others. */
const isUnknown = (type: Type, name: string): boolean =>
  general.includes(name) || (type !== "DeclarativeSource" && !isLacking(type, name));

/** Properties that no published schema has: they are not looked at, and their author is told. */
export function unknownPropertiesOf(
  value: JsonValue,
  path = "",
): { path: string; problem: string }[] {
  if (Array.isArray(value))
    return value.flatMap((one, index) => {
      const name = isJsonObject(one) && typeof one.name === "string" ? one.name : index;
      return unknownPropertiesOf(one, `${path}.${path === "streams" ? name : index}`);
    });
  if (!isJsonObject(value)) return [];
  const { type } = value;
  const known = (Object.keys(supported) as Type[]).find((one) => one === type);
  return Object.entries(value).flatMap(([name, part]) => {
    const here = path === "" ? name : `${path}.${name}`;
    if (known && !supported[known].split(" ").includes(name)) {
      const isReported = !general.includes(name) && isUnknown(known, name);
      return isReported
        ? [{ path: here, problem: `is none of a ${known}: it is not looked at` }]
        : [];
    }
    return isSchemaName(name) || name === "metadata" ? [] : unknownPropertiesOf(part, here);
  });
}

/** Schemas of records and settings are no components. */
export const isSchemaName = (name: string) =>
  name === "schema" || name === "connection_specification";

/** @throws CONNECTOR_INVALID naming what is not supported */
export function openComponent(
  value: JsonValue | undefined,
  path: string,
  types: readonly ComponentType[],
  code: CustomCode = noCode,
): Component {
  if (!isJsonObject(value)) throw invalid(path, `must be a ${types.join(" or ")}`);
  const custom = typeof value.class_name === "string" ? code.find(value, path, types) : undefined;
  const type = custom?.type ?? knownType(value, path, types);
  const parameters = isJsonObject(value.$parameters) ? value.$parameters : {};
  const at = (name: string) => `${path}.${name}`;
  /** An own property that says nothing gives way to a parameter. */
  const get = (name: string) => {
    const own = Object.hasOwn(value, name) ? value[name] : undefined;
    const isGiven = Object.hasOwn(parameters, name) && !truth(own as PlainValue);
    return isGiven ? parameters[name] : own;
  };
  return {
    ...{ type, path, value, parameters, custom, code },
    get,
    at,
    child(name, ...of) {
      const part = get(name);
      if (part === undefined || part === null) return undefined;
      return openComponent(part, at(name), of, code);
    },
    children(name, ...of) {
      const part = get(name) ?? [];
      const list = Array.isArray(part) ? part : [part];
      return list.map((one, index) => openComponent(one, `${at(name)}.${index}`, of, code));
    },
    template(name) {
      const part = get(name);
      if (part === undefined || part === null) return undefined;
      if (typeof part === "object") throw invalid(at(name), "must be a text");
      return compileTemplate(String(part), at(name));
    },
    required(name, found) {
      if (found === undefined) throw invalid(at(name), "is missing");
      return found;
    },
  };
}

/** @throws CONNECTOR_INVALID where its type or one of its properties is not supported */
function knownType(value: JsonObject, path: string, types: readonly ComponentType[]): Type {
  const { type } = value;
  if (typeof type !== "string") throw invalid(path, `lacks its type: ${types.join(" or ")}`);
  const known = types.find((one): one is Type => one === type && Object.hasOwn(supported, one));
  if (!known)
    throw new Unsupported(path, `is a ${type.slice(0, 100)}, which is not supported here`);
  const names = supported[known].split(" ");
  for (const name of Object.keys(value))
    if (!names.includes(name) && !isUnknown(known, name))
      throw new Unsupported(`${path}.${name}`, `is not supported in a ${type}`);
  return known;
}

export type Evaluate = (scope: Scope) => PlainValue;

/** A value in which every text is a template. */
export function compileValue(value: JsonValue, path: string): Evaluate {
  if (typeof value === "string") return compileTemplate(value, path).value;
  if (Array.isArray(value)) {
    const parts = value.map((part, index) => compileValue(part, `${path}.${index}`));
    return (scope) => parts.map((part) => part(scope));
  }
  if (!isJsonObject(value)) return () => value;
  const entries = Object.entries(value).map(
    ([name, part]) => [compileTemplate(name, path), compileValue(part, `${path}.${name}`)] as const,
  );
  return (scope) =>
    Object.fromEntries(entries.map(([name, part]) => [name.text(scope), part(scope)]));
}

/**
 * The same within the options of a request: what comes out empty, or asks what is not there for a
 * part, is nothing. Objects have no such properties, however deep they lie, and lists have nulls.
 */
function compileOption(value: JsonValue, path: string): Evaluate {
  if (typeof value === "string") {
    const { perhaps } = compileTemplate(value, path);
    return (scope) => {
      const made = perhaps(scope);
      return made === "" ? null : (made ?? null);
    };
  }
  if (Array.isArray(value)) {
    const parts = value.map((part, index) => compileOption(part, `${path}.${index}`));
    return (scope) => parts.map((part) => part(scope));
  }
  if (!isJsonObject(value)) return () => value;
  const entries = Object.entries(value).map(
    ([name, part]) =>
      [compileTemplate(name, path), compileOption(part, `${path}.${name}`)] as const,
  );
  return (scope) =>
    Object.fromEntries(
      entries.flatMap(([name, part]) => {
        const made = part(scope);
        return made === null ? [] : [[name.text(scope), made] as const];
      }),
    );
}

/** An object of templates; what comes out empty or null is left out. */
export function compileOptions(
  value: JsonValue | undefined,
  path: string,
): (scope: Scope) => Record<string, PlainValue> {
  if (value === undefined || value === null) return () => ({});
  if (!isJsonObject(value) && typeof value !== "string")
    throw invalid(path, "must be an object, or a text that makes one");
  const evaluate = compileOption(value, path);
  return (scope) => {
    const made = evaluate(scope);
    if (made === null) return {};
    if (!isMapping(made)) throw invalid(path, "makes no object");
    return Object.fromEntries(
      Object.entries(made).filter(([, one]) => one !== null && one !== undefined && one !== ""),
    );
  };
}

/**
 * The same for what goes out as text: a value stays as it is written ("1.10", a JSON document), but
 * for a list, which is said once for each of its items.
 */
export function compileTextOptions(
  value: JsonValue | undefined,
  path: string,
): (scope: Scope) => Record<string, PlainValue> {
  if (!isJsonObject(value)) return compileOptions(value, path);
  const fixed: JsonObject = {};
  const templates: [Template, Template][] = [];
  for (const [name, part] of Object.entries(value)) {
    if (typeof part !== "string") fixed[name] = part;
    else templates.push([compileTemplate(name, path), compileTemplate(part, `${path}.${name}`)]);
  }
  const others = compileOptions(fixed, path);
  return (scope) => {
    const texts = templates.flatMap(([name, template]) => {
      const text = template.perhapsText(scope);
      if (text === undefined || text === "") return [];
      const list = /^[ \t]*\[/.test(text) ? readLiteral(text) : text;
      return [[name.text(scope), Array.isArray(list) ? list : text] as const];
    });
    return { ...Object.fromEntries(texts), ...others(scope) };
  };
}

/** A list of texts, none of which reaches for an object's insides. */
export function textsOf(value: JsonValue | undefined, path: string): string[] {
  if (!Array.isArray(value) || isJsonObject(value)) throw invalid(path, "must be a list of names");
  return value.map((one) => {
    if (typeof one !== "string" && typeof one !== "number")
      throw invalid(path, "must be a list of names");
    if (one === "__proto__") throw invalid(path, 'reaches for "__proto__"');
    return toText(one);
  });
}
