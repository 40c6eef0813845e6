/**
 * Ids of a run as a platform gives them to a connector by its environment: made up, so that they
 * can be looked for in what users read.
 */
export const runIds = {
  HOSTNAME: "source-notes-read-90718254-7-qxzvk",
  POD_NAME: "source-notes-read-90718254-7-qxzvk",
  NODE_NAME: "ip-10-83-17-204.node.internal",
  WORKER_CONNECTOR_IMAGE: "registry.kit.example/connectors/source-under-test:7.3.1-kit",
  WORKER_JOB_ID: "90718254",
  WORKER_JOB_ATTEMPT: "8317",
  JOB_ID: "90718254",
  ATTEMPT_ID: "8317",
  RUN_ID: "run-5f7c1b9e-kit",
} as const;
