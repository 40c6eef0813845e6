/** SessionTokenAuthenticator: a log-in whose answer has the token. */
import { ConnectorError } from "../../contract/errors.ts";
import { toPointer } from "../../wire/json-pointer.ts";
import { type Component, textsOf } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import { parseSpan } from "../expressions/moment.ts";
import { type PlainValue, valueAt } from "../expressions/values.ts";
import type { Authenticator, CompileLogin } from "./authenticator.ts";
import { keepToken } from "./kept-token.ts";
import { compileInject } from "./request-option.ts";

/** The token of the log-in, as the manifest sends it. @param login how the log-in is sent */
export function compileSession(auth: Component, login: CompileLogin): Authenticator {
  const requester = login(
    auth.required("login_requester", auth.child("login_requester", "HttpRequester")),
  );
  auth.child("decoder", "JsonDecoder");
  const path = textsOf(auth.get("session_token_path"), auth.at("session_token_path"));
  const lasts = auth.get("expiration_duration");
  const span = typeof lasts === "string" ? parseSpan(lasts) : undefined;
  if (lasts !== undefined && lasts !== null && !span)
    throw invalid(auth.at("expiration_duration"), "must be a duration, as PT1H");
  const kept = keepToken(async (scope, ctx) => {
    const answer = await requester.send(ctx, scope);
    const found = valueAt(answer?.json<PlainValue>(), path);
    if (typeof found !== "string" || found === "") throw new ConnectorError("CREDENTIALS_REJECTED");
    return { token: found, lastsMs: span ? Number(span.micros / 1000n) : undefined };
  });
  const how = auth.required(
    "request_authentication",
    auth.child("request_authentication", "Bearer", "ApiKey"),
  );
  const minted = requester.urls.map((url) => ({ url, pointers: [toPointer(...path)] }));
  if (how.type === "Bearer")
    return {
      ...{ minted, forget: kept.forget },
      async sign({ header }, scope, ctx) {
        header.Authorization = `Bearer ${await kept.current(scope, ctx)}`;
      },
    };
  const inject = compileInject(
    how.required("inject_into", how.child("inject_into", "RequestOption")),
  );
  const form = how.template("api_token");
  return {
    ...{ minted, forget: kept.forget },
    async sign(added, scope, ctx) {
      const session_token = await kept.current(scope, ctx);
      inject(added, form?.text({ ...scope, session_token }) ?? session_token, scope);
    },
  };
}
