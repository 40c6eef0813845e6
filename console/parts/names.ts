import { useConnectors, useEndpoints, usePipelines } from "../model/queries.ts";
import { useActivations, useModels, useReceivers } from "../model/reverse-etl.ts";

/** The names of things, by type and id. */
export function useNames(): (type: string, id: string) => string | undefined {
  const sources = useEndpoints("source");
  const destinations = useEndpoints("destination");
  const pipelines = usePipelines();
  const connectors = useConnectors();
  const models = useModels();
  const receivers = useReceivers();
  const activations = useActivations();
  return (type, id) => {
    switch (type) {
      case "source":
        return sources.data?.find((one) => one.id === id)?.name;
      case "destination":
        return destinations.data?.find((one) => one.id === id)?.name;
      case "pipeline":
        return pipelines.data?.find((one) => one.pipeline_id === id)?.name;
      case "connection":
        return pipelines.data?.find((one) => one.connection_id === id)?.name;
      case "connector":
        return connectors.data?.find((one) => one.connector_id === id)?.name;
      case "reverse_etl_model":
        return models.data?.find((one) => one.modelId === id)?.name;
      case "reverse_etl_destination":
        return receivers.data?.find((one) => one.destinationId === id)?.name;
      case "reverse_etl_activation":
        return activations.data?.find((one) => one.activationId === id)?.name;
      default:
        return undefined;
    }
  };
}
