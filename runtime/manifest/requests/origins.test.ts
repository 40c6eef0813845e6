import { expect, test } from "vitest";
import { originsOf, urlTemplatesOf } from "./origins.ts";

const eu = "https://api.eu.example.com";
const us = "https://api.example.com";

test.each<[string, string[]]>([
  ["https://{{ config['account'] }}.example.com/v1", ["https://{account}.example.com"]],
  ["https://{{ config['login'].account }}.example.com", ["https://{login.account}.example.com"]],
  [`{% if config.region == 'EU' %} ${eu}/v3 {% else %}\n ${us}/v3 {% endif %}`, [eu, us]],
  [`{{ '${eu}' if config['region'] == 'EU' else '${us}' }}/v3`, [eu, us]],
  [`{{ config.get('url', '${us}') }}/v3`, [us, "https://{url}"]],
  [`{{ config['url'] or '${us}' }}`, [us, "https://{url}"]],
  [`{{ config['url'] | default('${us}') }}/`, [us, "https://{url}"]],
  ["{{ config['url'].rstrip('/') }}/api", ["https://{url}"]],
  ["https://{{ config['domain'] }}/rest/{{ record.id }}", ["https://{domain}"]],
  ["{{ 'https://' ~ (config['domain'] | trim) }}/rest", ["https://{domain}"]],
  ["{{ parameters['base'] }}/v1", [us]],
  ["{{ config['url'] }}oauth/token", ["https://{url}"]],
])("%s leads to hosts that are known before anything runs", (url, origins) => {
  expect(originsOf(url, "here", { base: us })).toEqual(origins);
});

test.each([
  "https://{{ record.host }}/",
  "https://{{ response['next'] }}",
  "{{ config['host'] }}.example.com/",
  "{{ config['url'] }}example.com/",
  "{{ now_utc() }}",
  "https://{{ config['a'] | hash }}.example.com",
  "{{ max(config['a'], config['b']) }}",
])("%s leads to hosts that nobody knows, and is refused", (url) => {
  expect(() => originsOf(url, "here", {})).toThrow(
    expect.objectContaining({ code: "CONNECTOR_INVALID" }),
  );
});

test("the URL of a log-in is one of those that its settings choose from", () => {
  const url =
    "{% if config.eu %}https://a.example.com{% else %}https://{{ config.host }}{% endif %}";
  expect(urlTemplatesOf(`${url}/token?x=1`, "here", {})).toEqual([
    "https://a.example.com/token",
    "https://{host}/token",
  ]);
  expect(urlTemplatesOf("{{ config['url'] }}oauth/token", "here", {})).toEqual([
    "https://{url}/oauth/token",
  ]);
});
