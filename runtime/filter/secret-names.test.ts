import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isPagingName,
  isSecretName,
  type SecretNameLevel,
  secretNameLevels,
} from "./secret-names.ts";
import { forbiddenFields } from "./shape-guards.ts";

/** The lowest levels that say yes to each name; those above follow from them. */
const table: Readonly<Record<SecretNameLevel, string>> = {
  setting: `
    token tokens api_token auth_token access_token refresh_token id_token bearer_token client_token
    personal_access_token session_token private_token page_access_token restart_secret oauth2_token
    secret secrets client_secret app_secret webhook_secret consumer_secret secret_key secret_2
    password passwords db_password password_2 passwd passphrase key_passphrase pwd admin_pwd
    password_hash password_hint jwt_issuer x_amz_credential smtp_password_old
    api_key api_keys app_key application_key account_key auth_key access_key private_key signing_key
    encryption_key master_key shared_key subscription_key service_key license_key webhook_key
    private_key_pem private_key_json service_account_key aws_secret_access_key x_api_key hmac_key
    credential credentials jwt bearer authorization proxy_authorization authorisation
    authorization_code pat cookie set_cookie cookies csrf_token xsrf_token
    connection_string dsn service_account service_account_json service_account_file
    accesstoken clientsecret dbpassword apikey accesskey secretkey privatekey myapikey`,
  exchange: `
    session session_id session_ids session_key sig signature x_amz_signature hmac
    x_hub_hmac assertion client_assertion csrf xsrf otp pass auth access_key_id aws_access_key_id
    secret_id`,
  mention: `
    token_url token_uri token_endpoint token_header token_field token_prefix token_path token_value
    secret_name secret_path secret_prefix secret_url password_field password_location
    api_key_header api_key_name api_key_url private_key_path private_key_uri credential_name
    credentials_path authorization_url authorization_endpoint authorization_header secret_handle
    access_token_url passwordhash mytokenvalue secretsmanager
    token_id token_ids api_key_id private_key_id password_id reset_token_id
    password_day token_in token_at secret_second authorization_minute`,
  suspicion: `
    auth_url auth_header oauth oauth_state x_auth_user session_url session_data signature_header
    cookie_jar  private is_private private_note unauthorized authorize access_key_name`,
  hint: `
    key keys code sort_key primary_key partition_key public_key foreign_key keyspace keyword monkey
    author authors author_id authority sign_up country_code compass passenger credits design auth_type
    token_count token_counts token_type token_type_id token_expires_at token_expires_in
    token_expiry token_limit token_version token_scopes token_enabled password_policy
    password_required password_length password_type passwordless passwordless_login secret_type
    secret_version credential_id credential_ids credential_type credentials_type
    password_expires_at password_changed_at password_expiry_days token_lifetime_minutes
    token_max_age_seconds password_policy_id
    credential_handle credential_handles authorization_type
    auth_method auth_mode secretary secretaries tokenizer tokenization max_tokens
    total_tokens next_page_token page_token pageToken sync_token continuation_token resume_token
    next_token start_token`,
};
const nothing = `
  name title host port user username email client_id page page_size limit offset cursor next_cursor
  session_count session_expires_at cookie_policy id status amount pattern path patient date url base_url region bucket table timeout`;

const namesOf = (text: string) => text.trim().split(/\s+/);
const spellings = (name: string) => {
  const words = name.split("_");
  const titled = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return {
    snake_case: name,
    "kebab-case": words.join("-"),
    camelCase: titled.join("").replace(/^./, (letter) => letter.toLowerCase()),
    PascalCase: titled.join(""),
    SCREAMING_CASE: name.toUpperCase(),
    "Header-Case": titled.join("-"),
    "dotted.case": words.join("."),
    numbered: `${name}_2`,
  };
};
const levelsOf = (name: string) => secretNameLevels.filter((level) => isSecretName(name, level));
const expectedLevels: Readonly<Record<SecretNameLevel, readonly SecretNameLevel[]>> = {
  setting: secretNameLevels,
  exchange: ["exchange", "suspicion", "hint"],
  mention: ["mention", "suspicion", "hint"],
  suspicion: ["suspicion", "hint"],
  hint: ["hint"],
};

describe.each([...secretNameLevels])("%s is the first level that knows", (level) => {
  // The two names of the list that stand at another level than their first one says.
  const both = new Set(["secret_id", "secret_ids"]);
  test.each(namesOf(table[level]))("%s, however it is spelt", (name) => {
    const expected = both.has(name)
      ? ["exchange", "mention", "suspicion", "hint"]
      : expectedLevels[level];
    const found = Object.entries(spellings(name)).map(([how, spelt]) => [how, levelsOf(spelt)]);
    expect(found).toEqual(found.map(([how]) => [how, expected]));
  });
});

test.each(namesOf(nothing))("%s is no secret at any level", (name) => {
  for (const spelt of Object.values(spellings(name))) expect(levelsOf(spelt)).toEqual([]);
});

const words = [
  ...Object.values(table).flatMap(namesOf),
  ...namesOf(nothing),
  ..."my x aws google db user next page api new old value count type id at url 2 s".split(" "),
];
const made = fc
  .array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 })
  .chain((parts) => fc.constantFrom("_", "-", "", " ", ".").map((between) => parts.join(between)));

test("each level knows what the levels before it know", () => {
  fc.assert(
    fc.property(fc.oneof(made, fc.string()), (name) => {
      const levels = new Set(levelsOf(name));
      if (levels.has("setting")) expect(levels).toContain("exchange");
      if (levels.has("setting")) expect(levels).toContain("mention");
      if (levels.has("exchange") || levels.has("mention")) expect(levels).toContain("suspicion");
      if (levels.has("suspicion")) expect(levels).toContain("hint");
    }),
  );
});

/**
 * A name with a word for a secret in it passes the level `mention` only for one of the reasons that
 * the level gives.
 */
test("no name with a word for a secret passes but for a reason", () => {
  const word =
    /(api[_-]?key|secret|token|password|passwd|authorization|private[_-]?key|credential)/i;
  const reason =
    /(?:algorithm|count|enabled|expires?|expiry|format|length|limit|method|mode|policy|required|scope|style|type|version)s?[^a-z]*$|(?<!(?:key|secret|token|password|passwd|authorization|credential)s?[^a-z]*)(?:at|day|id|in|minute|second)s?[^a-z]*$|passwordless|secretar(?:y|ies)|tokeniz|credential[^a-z]?(?:handle|id)|cursor|(?:next|page|sync|continuation|resume|start|max|total)[^a-z]?tokens?[^a-z]*$/i;
  fc.assert(
    fc.property(made, (name) => {
      if (word.test(name) && !reason.test(name)) expect(isSecretName(name, "mention")).toBe(true);
    }),
  );
});

test.each(
  namesOf(
    "next_page_token page_token pageToken NextToken cursor next_cursor sync_token before_tokens",
  ),
)("%s is a place in a listing", (name) => expect(isPagingName(name)).toBe(true));
test.each(
  namesOf("page_access_token async_token token api_token page tokens cursor_key"),
)("%s is none", (name) => expect(isPagingName(name)).toBe(false));

test("the secrets among the names that no answer has are secrets of every level", () => {
  const secrets = [...forbiddenFields].filter((name) => isSecretName(name, "hint"));
  expect(secrets.map((name) => [name, isSecretName(name, "setting")])).toEqual(
    secrets.map((name) => [name, true]),
  );
  expect(secrets).toHaveLength(10);
});

test("a long name takes no long time", () => {
  const long = "aB_".repeat(200_000);
  expect(levelsOf(long)).toEqual([]);
  expect(levelsOf(`${"_".repeat(500_000)}token`)).toEqual(secretNameLevels);
});
