/** The contents of a workspace, as far as a workspace file can say them. */
import { UsageError } from "svc-connectors/host";
import { type Api, ApiError, type Resource } from "./api.ts";
import { kinds } from "./kinds.ts";
import type { SectionName } from "./schema.ts";

export interface Inventory {
  readonly workspace: { readonly id: string; readonly name: string; readonly slug: string };
  /** Of every kind, oldest first. A pipeline has all of its streams. */
  readonly things: Readonly<Record<SectionName, readonly Resource[]>>;
  /** Kinds that the token may not see. */
  readonly hidden: readonly SectionName[];
}

/**
 * @param needsStreams whether the streams of a pipeline are wanted, by its name
 * @throws ApiError · UsageError when it is not clear which workspace is meant
 */
export async function takeInventory(
  api: Api,
  named: string | undefined,
  needsStreams: (pipeline: string) => boolean = () => true,
): Promise<Inventory & { readonly api: Api }> {
  const workspace = await findWorkspace(api, named);
  const own = api.in(workspace.id);
  const things: Partial<Record<SectionName, readonly Resource[]>> = {};
  const hidden: SectionName[] = [];
  for (const { section, path } of kinds) {
    try {
      things[section] = (await own.list(path)).filter(isWhole).reverse();
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 403)) throw error;
      hidden.push(section);
      things[section] = [];
    }
  }
  const found = things as Record<SectionName, readonly Resource[]>;
  const pipelines: Resource[] = [];
  for (const pipeline of found.pipelines) {
    const streams = needsStreams(pipeline.name)
      ? await own.list(`/pipelines/${pipeline.pipeline_id}/streams`)
      : [];
    pipelines.push({ ...pipeline, streams });
  }
  return { api: own, workspace, hidden, things: { ...found, pipelines } };
}

/** A credential that waits for its person in the browser is not one yet. */
const isWhole = ({ status }: Resource) => status !== "pending";

async function findWorkspace(api: Api, named: string | undefined): Promise<Inventory["workspace"]> {
  const all = (await api.list("/workspaces")).map(({ workspace_id: id, name, slug }: Resource) => ({
    id: String(id),
    name: String(name),
    slug: String(slug),
  }));
  const found =
    named === undefined ? all : all.filter(({ id, slug }) => id === named || slug === named);
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  const slugs = all.map(({ slug }) => slug).join(", ");
  throw new UsageError(
    named === undefined
      ? `the token belongs to ${all.length} workspaces: name one, workspace: ${slugs}`
      : `the token belongs to no workspace of that id or slug; it has ${slugs}`,
  );
}
