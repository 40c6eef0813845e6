import { expect, test } from "vitest";
import { isSecretName } from "./secret-names.ts";

test.each([
  "token", "api_token", "access_token", "refreshToken", "secret", "client_secret", "ClientSecret", "password", "db_password", "passphrase", "api_key", "apiKey", "apikey",
  "X-Api-Key", "private_key", "private_key_pem", "credentials", "service_account_json", "connection_string", "personal_access_token", "pat", "jwt", "aws_secret_access_key", "Private-Token", "tokens",
])("%s is the name of a secret", (name) => expect(isSecretName(name)).toBe(true)); // biome-ignore format: a list of words

test.each([
  "token_url", "tokenEndpoint", "token_type", "client_id", "key", "primary_key", "public_key", "sort_key", "access_key_id", "auth_method", "password_policy", "secret_name",
  "page_size", "host", "username", "credentials_type", "keyspace", "pattern", "authority", "keyword", "partition_key",
])("%s is not", (name) => expect(isSecretName(name)).toBe(false)); // biome-ignore format: a list of words
