import { useConnectors, useEndpoints, usePipelines } from "../model/queries.ts";

/** The names of things, by type and id. */
export function useNames(): (type: string, id: string) => string | undefined {
  const sources = useEndpoints("source");
  const destinations = useEndpoints("destination");
  const pipelines = usePipelines();
  const connectors = useConnectors();
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
      default:
        return undefined;
    }
  };
}
