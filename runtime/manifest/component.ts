/**
 * A component of a manifest: an object with a type, of which every property is known or refused.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { invalid } from "./invalid.ts";
import { compileTemplate, type Scope, type Template } from "./template.ts";
import type { PlainValue } from "./values.ts";

export interface Component {
  readonly type: string;
  readonly path: string;
  readonly parameters: JsonObject;
  /** A property, or the parameter of that name that was handed down. */
  get(name: string): JsonValue | undefined;
  /** The place of a property, for messages. */
  at(name: string): string;
  /** A property that is a component of one of these types; undefined when it is not there. */
  child(name: string, ...types: readonly Type[]): Component | undefined;
  /** The same, for a list of them. */
  children(name: string, ...types: readonly Type[]): Component[];
  /** A property that is text, as a template. */
  template(name: string): Template | undefined;
  /** @throws CONNECTOR_INVALID when it is not there */
  required<T>(name: string, value: T | undefined): T;
}

/** The components that are supported, and of each the properties. Everything else is refused. */
export const supported = {
  DeclarativeSource: "check streams version spec definitions schemas metadata concurrency_level",
  CheckStream: "stream_names",
  Spec: "connection_specification documentation_url",
  ConcurrencyLevel: "default_concurrency max_concurrency",
  DeclarativeStream: "name retriever primary_key schema_loader transformations",
  SimpleRetriever: "requester record_selector paginator partition_router decoder",
  JsonDecoder: "",
  HttpRequester:
    "url_base url path http_method authenticator request_parameters request_headers request_body_json request_body_data",
  NoAuth: "",
  BearerAuthenticator: "api_token",
  ApiKeyAuthenticator: "api_token header inject_into",
  BasicHttpAuthenticator: "username password",
  NoPagination: "",
  DefaultPaginator: "pagination_strategy page_size_option page_token_option",
  CursorPagination: "cursor_value page_size stop_condition",
  OffsetIncrement: "page_size inject_on_first_request",
  PageIncrement: "page_size start_from_page inject_on_first_request",
  RequestOption: "inject_into field_name",
  RequestPath: "",
  RecordSelector: "extractor record_filter",
  DpathExtractor: "field_path",
  RecordFilter: "condition",
  AddFields: "fields condition",
  AddedFieldDefinition: "path value value_type",
  RemoveFields: "field_pointers",
  ListPartitionRouter: "values cursor_field request_option",
  InlineSchemaLoader: "schema",
} as const;
export type Type = keyof typeof supported;

/** @throws CONNECTOR_INVALID naming what is not supported */
export function openComponent(
  value: JsonValue | undefined,
  path: string,
  types: readonly Type[],
): Component {
  if (!isJsonObject(value)) throw invalid(path, `must be a ${types.join(" or ")}`);
  const { type } = value;
  if (typeof type !== "string") throw invalid(path, `lacks its type: ${types.join(" or ")}`);
  const known = types.find((one) => one === type);
  if (!known) throw invalid(path, `is a ${type}, which is not supported here`);
  const names = supported[known].split(" ");
  const parameters = isJsonObject(value.$parameters) ? value.$parameters : {};
  for (const name of Object.keys(value))
    if (!["type", "$parameters", ...names].includes(name))
      throw invalid(`${path}.${name}`, `is not supported in a ${type}`);
  const at = (name: string) => `${path}.${name}`;
  const get = (name: string) =>
    Object.hasOwn(value, name)
      ? value[name]
      : Object.hasOwn(parameters, name)
        ? parameters[name]
        : undefined;
  const own = (name: string) => (Object.hasOwn(value, name) ? value[name] : undefined);
  return {
    type,
    path,
    parameters,
    get,
    at,
    child(name, ...of) {
      const part = own(name);
      return part === undefined || part === null ? undefined : openComponent(part, at(name), of);
    },
    children(name, ...of) {
      const part = own(name) ?? [];
      const list = Array.isArray(part) ? part : [part];
      return list.map((one, index) => openComponent(one, `${at(name)}.${index}`, of));
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

/** An object of templates; what comes out empty or null is left out. */
export function compileOptions(
  value: JsonValue | undefined,
  path: string,
): (scope: Scope) => Record<string, PlainValue> {
  if (value === undefined || value === null) return () => ({});
  if (!isJsonObject(value)) throw invalid(path, "must be an object; a text is not supported here");
  const evaluate = compileValue(value, path);
  return (scope) =>
    Object.fromEntries(
      Object.entries(evaluate(scope) as Record<string, PlainValue>).filter(
        ([, one]) => one !== null && one !== undefined && one !== "",
      ),
    );
}
