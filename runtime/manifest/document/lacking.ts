/**
 * Properties of the published schema of manifests that the runtime lacks. A property that is
 * neither here nor supported is no part of it.
 */

/** Properties of components that are supported otherwise. */
export const lackingProperties: Readonly<Record<string, string>> = {
  CombinedExtractor: "skip_empty_records",
  DeclarativeStream: "file_uploader",
  ParentStreamConfig: "lazy_read_pointer",
  QueryProperties: "property_selector",
  RecordExpander: "truncated_list_retriever truncation_indicator_path",
  SimpleRetriever: "page_size_reduction pagination_reset request_window_splitting",
  StateDelegatingStream: "api_retention_period",
};

/** Components; those in Python besides, whose names begin with Custom. */
export const lackingTypes: readonly string[] = [
  ...["FileUploader", "JsonSchemaPropertySelector", "LegacySessionTokenAuthenticator"],
  ...["PageSizeReduction", "PaginationReset", "PaginationResetLimits", "QuotaStatusSource"],
  ...["RateLimitedMultipleTokenAuthenticator", "RequestWindowSplitting", "TokenQuota"],
];

export const isLacking = (type: string, property: string): boolean =>
  lackingProperties[type]?.split(" ").includes(property) ?? false;
