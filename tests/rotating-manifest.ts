/** A manifest whose provider replaces the refresh token with each use. */
export const rotatingManifest = ({ login, api }: { login: string; api: string }): string => `
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
          client_id: "{{ config.client_id }}"
          client_secret: "{{ config.client_secret }}"
          refresh_token: "{{ config.refresh_token }}"
          refresh_token_updater: { refresh_token_config_path: [refresh_token] }
        error_handler:
          type: DefaultErrorHandler
          response_filters: [{ type: HttpResponseFilter, http_codes: [401], action: REFRESH_TOKEN_THEN_RETRY }]
          backoff_strategies: [{ type: ConstantBackoffStrategy, backoff_time_in_seconds: 0.01 }]
spec:
  type: Spec
  connection_specification:
    type: object
    required: [client_id, client_secret, refresh_token]
    properties:
      client_id: { type: string, title: Client ID }
      client_secret: { type: string, title: Client secret, airbyte_secret: true }
      refresh_token: { type: string, title: Refresh token, airbyte_secret: true }
`;
