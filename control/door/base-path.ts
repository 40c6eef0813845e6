/** Where version 1 of the Control API is, on every server. */
export const basePath = "/control/v1";
