import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { useModels, useReceivers } from "../model/reverse-etl.ts";
import { useWork } from "../model/use-work.ts";
import { ActivationForm, type ActivationParts } from "../parts/activation-form.tsx";
import { Head } from "../parts/head.tsx";
import { notify } from "../parts/notify.ts";
import { Empty, Loaded, ProblemNote } from "../parts/states.tsx";

export default function NewActivation({
  model,
}: {
  /** Whose rows are sent, where somebody comes from it. */
  readonly model?: string | undefined;
}) {
  const models = useModels();
  const receivers = useReceivers();
  const { isBusy, problem, run } = useWork();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const save = ({ name, modelId, destinationId, ...parts }: ActivationParts) =>
    run(async () => {
      const made = await ask(
        api.POST("/reverse-etl/activations", {
          body: {
            name,
            modelId,
            destinationId,
            object: parts.object,
            operation: parts.operation,
            mappings: [...parts.mappings],
            schedule: parts.schedule.type === "manual" ? null : parts.schedule,
          },
        }),
      );
      await queries.invalidateQueries({ queryKey: ["in", "activations"] });
      notify.outcome(made, "Created. Nothing was sent yet.");
      go(isProposal(made) ? "/activations" : `/activations/${made.activationId}`);
    });
  const chosenOf = (models: readonly schemas["ReverseEtlModel"][]) =>
    models.find((one) => one.modelId === model) ?? models[0];
  return (
    <>
      <Head title="Create an activation" up={{ to: "/activations", label: "Reverse ETL" }} />
      <Loaded query={models}>
        {(left) => (
          <Loaded query={receivers}>
            {(right) =>
              left.length === 0 || right.length === 0 ? (
                <Empty
                  title={left.length === 0 ? "There is no model yet" : "There is no receiver yet"}
                  text="An activation sends the rows of a model to a receiver."
                  action={
                    left.length === 0 ? (
                      <Button component={Link} href="/models/new">
                        Write a model
                      </Button>
                    ) : (
                      <Button component={Link} href="/receivers/new">
                        Add a receiver
                      </Button>
                    )
                  }
                />
              ) : (
                <ActivationForm
                  isNew
                  first={{
                    name: `${chosenOf(left)?.name} to ${right[0]?.name}`,
                    modelId: chosenOf(left)?.modelId ?? "",
                    destinationId: right[0]?.destinationId ?? "",
                    object: "",
                    operation: "upsert",
                    mappings: [],
                    schedule: { type: "manual" },
                  }}
                  models={left.map((one) => ({ value: one.modelId, label: one.name }))}
                  receivers={right.map((one) => ({
                    value: one.destinationId,
                    label: one.name,
                  }))}
                  label="Create the activation"
                  problem={problem === undefined ? null : <ProblemNote error={problem} />}
                  isBusy={isBusy}
                  onSave={(parts) => void save(parts)}
                />
              )
            }
          </Loaded>
        )}
      </Loaded>
    </>
  );
}
