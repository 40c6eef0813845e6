/**
 * A tour of the Control API by HTTP, with the requests of somebody who automates the set-up of a
 * source.
 */
import { createClient, type Data, DemoFailed } from "./client.ts";
import type { Printer } from "./printer.ts";
import type { DemoService } from "./service.ts";
import type { Simulators } from "./simulators.ts";

export async function takeTour(
  print: Printer,
  service: DemoService,
  simulators: Simulators,
): Promise<void> {
  const [acme, globex] = service.workspaces;
  const { mailer } = simulators;
  let everything = "";

  /** Shows each line and its answer's status. Secrets are not shown, and in no answer. */
  const ask = createClient(
    service.url,
    acme.tokens.editor,
    async ({ method, path, status, text, problem = "" }) => {
      everything += text;
      await print.line(`${method.padEnd(6)} ${path}  →  ${status} ${problem}`.trimEnd());
    },
  );

  const me = await ask(200, "GET", "/me");
  await print.fact(`${me.email}, ${me.memberships?.[0]?.role} of one workspace`);
  const connectors = await ask(200, "GET", "/connectors");
  await print.fact(connectors.items.map((one: Data) => one.connector_id).join(", "));

  await print.note(
    "The token goes in once. From then on there is a handle, which is a name and no secret.",
  );
  const { baseUrl: base_url } = mailer;
  const stored = await ask(201, "POST", "/credentials/mailer/api-token", {
    base_url,
    api_token: mailer.token,
  });
  const { credential_handle } = stored;
  await print.fact(`credential_handle ${credential_handle}`);
  const checked = await ask(200, "POST", "/connectors/mailer/check", {
    credential_handle,
    base_url,
  });
  const { covered, total } = checked.field_coverage;
  await print.fact(`${checked.data_source_status}; ${covered} of ${total} fields are there`);
  const preview = await ask(200, "POST", "/connectors/mailer/edm/preview", {
    credential_handle,
    base_url,
    limit: 3,
  });
  for (const {
    name,
    sent_to_number_of_subscribers: sent,
    unique_open_count: opens,
  } of preview.campaigns)
    await print.fact(`${name}: sent to ${sent}, opened by ${opens}`);
  for (const { metric, status } of preview.metrics_requiring_attribution)
    await print.fact(`${metric}: ${status}`);

  const configuration = { base_url };
  const source = {
    name: "Newsletter",
    connector_id: "conn_mailer_product_edm",
    credential_handle,
    configuration,
  };
  const created = await ask(201, "POST", "/sources", source);
  const { source_id } = created;

  await print.note("What must not work:");
  const wrong = await ask(201, "POST", "/credentials/mailer/api-token", {
    base_url,
    api_token: mailer.badToken,
  });
  await ask(422, "POST", "/sources", { ...source, credential_handle: wrong.credential_handle });
  const before = simulators.traffic().lookups.length;
  const metadata = { credential_handle, base_url: "https://169.254.169.254/api" };
  await ask(422, "POST", "/connectors/mailer/check", metadata);
  await print.fact(`names looked up for that: ${simulators.traffic().lookups.length - before}`);
  await ask(422, "POST", "/sources", {
    ...source,
    configuration: { base_url, api_token: "a token in the wrong place" },
  });
  await ask(404, "GET", `/sources/${source_id}`, undefined, globex.tokens.admin);
  await print.fact("another workspace's: it does not exist");
  await ask(403, "DELETE", `/sources/${source_id}`, undefined, acme.tokens.viewer);

  await print.note("An agent's change is a proposal, until a person approves it:");
  const proposal = await ask(202, "DELETE", `/sources/${source_id}`, undefined, acme.tokens.agent);
  await ask(403, "POST", `/approvals/${proposal.approval_id}/approve`, {}, acme.tokens.agent);
  const approved = await ask(
    200,
    "POST",
    `/approvals/${proposal.approval_id}/approve`,
    {},
    acme.tokens.admin,
  );
  await print.fact(`${approved.status}: ${JSON.stringify(approved.result)}`);
  await ask(404, "GET", `/sources/${source_id}`);

  await print.note("All of it is written down, also what was refused:");
  const audit = await ask(200, "GET", "/audit-logs?limit=100", undefined, acme.tokens.admin);
  for (const { action, outcome, actor } of audit.items.toReversed())
    await print.fact(`${outcome.padEnd(8)} ${action} by ${actor.display}`);
  const isOut =
    everything.includes(mailer.token.slice(6, 20)) ||
    everything.includes(mailer.badToken.slice(6, 20));
  await print.fact(`requests that the mailer saw: ${mailer.requests.length}`);
  await print.fact(`its token was in an answer: ${isOut ? "YES" : "no"}`);
  if (isOut) throw new DemoFailed("an answer held a token");
}
