interface Provider {
  readonly login: string;
  readonly api: string;
}

/** A manifest whose provider replaces the refresh token with each use. */
export const rotatingManifest = (provider: Provider): string => written(provider, "", plainSpec);

/** The same as most published ones have it: what logs in is an object of several forms. */
export const nestedRotatingManifest = (provider: Provider): string =>
  written(provider, "credentials", nestedSpec);

const plainSpec = `
    required: [client_id, client_secret, refresh_token]
    properties:
      client_id: { type: string, title: Client ID }
      client_secret: { type: string, title: Client secret, airbyte_secret: true }
      refresh_token: { type: string, title: Refresh token, airbyte_secret: true }
`;

const nestedSpec = `
    required: [credentials]
    properties:
      credentials:
        type: object
        title: Authentication
        oneOf:
          - type: object
            title: OAuth
            required: [auth_type, client_id, client_secret, refresh_token]
            properties:
              auth_type: { type: string, const: oauth2.0 }
              client_id: { type: string, title: Client ID }
              client_secret: { type: string, title: Client secret }
              refresh_token: { type: string, title: Refresh token, airbyte_secret: true }
          - type: object
            title: Access token
            required: [auth_type, access_token]
            properties:
              auth_type: { type: string, const: access_token }
              access_token: { type: string, title: Token, airbyte_secret: true }
`;

const written = ({ login, api }: Provider, object: string, specification: string): string => {
  const setting = (name: string) => ["config", object, name].filter((part) => part).join(".");
  const path = [object, "refresh_token"].filter((part) => part).join(", ");
  return `
version: 6.36.2
type: DeclarativeSource
check: { type: CheckStream, stream_names: [items] }
streams:
  - type: DeclarativeStream
    name: items
    primary_key: id
    schema_loader: { type: InlineSchemaLoader, schema: { type: object, properties: { id: { type: string }, token: { type: string }, seen: { type: string } } } }
    transformations: [{ type: AddFields, fields: [{ type: AddedFieldDefinition, path: [seen], value: "{{ record.token | base64encode }}" }] }]
    retriever:
      type: SimpleRetriever
      record_selector: { type: RecordSelector, extractor: { type: DpathExtractor, field_path: [] } }
      requester:
        type: HttpRequester
        url_base: ${api}
        path: items
        authenticator:
          type: OAuthAuthenticator
          token_refresh_endpoint: ${login}
          client_id: "{{ ${setting("client_id")} }}"
          client_secret: "{{ ${setting("client_secret")} }}"
          refresh_token: "{{ ${setting("refresh_token")} }}"
          refresh_token_updater: { refresh_token_config_path: [${path}] }
        error_handler:
          type: DefaultErrorHandler
          response_filters: [{ type: HttpResponseFilter, http_codes: [401], action: REFRESH_TOKEN_THEN_RETRY }]
          backoff_strategies: [{ type: ConstantBackoffStrategy, backoff_time_in_seconds: 0.01 }]
spec:
  type: Spec
  connection_specification:
    type: object${specification}`;
};
