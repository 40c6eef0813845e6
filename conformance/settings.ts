import type { ConformanceSettings } from "./contract/settings.ts";

/** What holds when conformance.yaml says nothing. */
export const defaultSettings: ConformanceSettings = {
  fixtures: "fixtures",
  config: {},
  empty_streams: {},
  capabilities: { delivery: "boundary", safe_posts: [], loses_on_mutation: false },
  paging: {},
  waivers: [],
  max_age_days: 365,
};
