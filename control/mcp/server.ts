import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { packageVersion } from "svc-connectors/host";
import type { Operation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import {
  inputSchemaOf,
  outputSchemaOf,
  requestsOf,
  type ToolRequest,
  type ToRequest,
} from "./arguments.ts";
import { type NamedTool, nameTools, routeOf } from "./tools.ts";

/** The way to the door of the Control API: here, or of a server elsewhere. */
export interface WayToDoor {
  /** Asks for an operation. Gives the status and the envelope's text. */
  ask(
    request: ToolRequest,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly text: string }>;
  /**
   * Tells of a tool that was called with arguments that it does not take, and gives the envelope's
   * text. Absent: nobody asked the Control API for anything.
   */
  refuse?(operation: Operation, args: object, refusal: ControlError): Promise<string>;
}

interface Tool extends NamedTool {
  readonly description: string;
  readonly inputSchema: { readonly type: "object" };
  readonly outputSchema: { readonly type: "object" };
  readonly toRequest: ToRequest;
}

/**
 * The tools of a registry, by name. Made once: schemas and descriptions are the same for everybody.
 */
export type Tools = ReadonlyMap<string, Tool>;

const instructions =
  "svc moves data from sources into destinations. Changes become proposals that a person approves, unless the workspace's " +
  "policy says otherwise (svc_list_approval_policies): tell the person the approval_id, and look with svc_get_approval what " +
  "became of it. A sync is a job: svc_get_job follows it, svc_list_jobs finds it. Secrets are never passed through tools: credentials are named by their credential_handle.";

export function createTools(operations: readonly Operation[]): Tools {
  const named = nameTools(operations);
  const describe = createDescribe(named);
  return new Map(
    named.map((tool) => {
      const inputSchema = inputSchemaOf(tool);
      const made = {
        ...tool,
        description: describe(tool),
        // Plain JSON Schema: what else TypeBox keeps stays here.
        inputSchema: JSON.parse(JSON.stringify(inputSchema)) as Tool["inputSchema"],
        outputSchema: JSON.parse(JSON.stringify(outputSchemaOf(tool))) as Tool["outputSchema"],
        toRequest: requestsOf(tool, inputSchema),
      };
      return [tool.name, made];
    }),
  );
}

/** Descriptions for agents: where they name a route that has a tool, they name the tool. */
function createDescribe(tools: readonly NamedTool[]): (tool: NamedTool) => string {
  const names = new Map(tools.map(({ name, operation }) => [routeOf(operation), name]));
  const routes = /\b(GET|POST|PATCH|DELETE) \/[\w/{}-]+/g;
  const toTools = (text: string) => text.replace(routes, (route) => names.get(route) ?? route);
  return ({ summary, description, operation, change }) => {
    const own = change
      ? [
          operation.description && `Without ${change.argument}: ${operation.description}`,
          change.operation.description &&
            `With ${change.argument}: ${change.operation.description}`,
        ]
      : [description ?? operation.description];
    const sentences = [`${summary}.`, ...own, proposalSentence(operation)];
    return toTools(sentences.filter((sentence) => sentence).join(" "));
  };
}

function proposalSentence(operation: Operation): string | undefined {
  if (operation.effect !== "write" || operation.isFree || operation.isForPeople) return undefined;
  const policy = operation.category
    ? `, unless the policy of ${operation.category} lets agents do it`
    : "";
  return `Becomes a proposal that a person approves${policy}.`;
}

/**
 * A server of the agent protocol over one caller's connection or request. It is as cheap to make as
 * the protocol wants it.
 */
export function createMcpServer(tools: Tools, door: WayToDoor): Server {
  const server = new Server(
    { name: "svc", title: "svc Control API", version: packageVersion },
    {
      capabilities: { tools: {} },
      instructions,
      cacheHints: { "tools/list": { ttlMs: 300_000, cacheScope: "public" } },
    },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: [...tools.values()].map(
      ({ name, summary, description, inputSchema, outputSchema, annotations }) => ({
        name,
        title: summary,
        description,
        inputSchema,
        outputSchema,
        annotations: { title: summary, ...annotations },
      }),
    ),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq: { signal } }) => {
    const tool = tools.get(params.name);
    if (!tool)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no tool of that name.");
    return await call(tool, params.arguments ?? {}, door, signal);
  });
  return server;
}

async function call(
  tool: Tool,
  args: Record<string, unknown>,
  door: WayToDoor,
  signal: AbortSignal,
) {
  try {
    const request = await requestOf(tool, args, door);
    if (typeof request === "string") return failed(request);
    const { status, text } = await door.ask(request, signal);
    const envelope = JSON.parse(text) as { readonly data?: Record<string, unknown> };
    if (status >= 400 || !envelope.data) return failed(text);
    const structured =
      tool.operation.effect === "write" ? toWritten(status, envelope.data) : envelope.data;
    return {
      content: [{ type: "text" as const, text: JSON.stringify(structured) }],
      structuredContent: structured,
    };
  } catch (error) {
    const refusal = error instanceof ControlError ? error : new ControlError("internal");
    const { status, message, reason, details } = refusal;
    return failed(
      JSON.stringify({ code: String(status), message, details: { reason, ...details } }),
    );
  }
}

/** The request that a call makes; or, as text, why it makes none. */
async function requestOf(
  { operation, toRequest }: Tool,
  args: Record<string, unknown>,
  door: WayToDoor,
): Promise<ToolRequest | string> {
  try {
    return toRequest(args);
  } catch (error) {
    if (!(error instanceof ControlError) || !door.refuse) throw error;
    return await door.refuse(operation, args, error);
  }
}

/** The model reads why, and can put it right. */
const failed = (text: string) => ({ content: [{ type: "text" as const, text }], isError: true });

function toWritten(status: number, data: Record<string, unknown>) {
  const isProposal = status === 202 && "approval_id" in data && "payload_digest" in data;
  return isProposal
    ? { status: "proposal_created", approval: data }
    : { status: "executed", result: data };
}
