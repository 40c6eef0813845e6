import { expect, test } from "vitest";
import { versionInUrls } from "./provider-version.ts";

test.each([
  [["https://api.example.com/v1/me", "https://api.example.com/v1/notes?v=v2"], "v1"],
  [["https://graph.example.com/v19.0/me", "https://login.example.com/oauth/token"], "v19.0"],
  [["https://example.com/api/V2/notes/v3"], "V2"],
  [["https://api.example.com/v1/me", "https://api.example.com/v2/notes"], undefined],
  [["https://api.example.com/notes/vendors"], undefined],
  [[], undefined],
])("URLs %j name the version %s", (urls, version) => {
  expect(versionInUrls(urls)).toBe(version);
});
