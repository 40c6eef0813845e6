/** The page at /control/v1/docs. Addresses are relative, so that it works behind a proxy too. */

export const docsPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>svc Control API</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="stylesheet" href="docs/page.css">
  </head>
  <body>
    <div id="api"></div>
    <noscript>This page needs JavaScript. The same is in <a href="openapi.json">openapi.json</a>.</noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/page.js"></script>
  </body>
</html>
`;

/** The token that is entered stays in the page: it is gone with it. */
export const docsScript = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#api",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  showExtensions: true,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

export const docsStyle = `body { margin: 0; }
.swagger-ui .info { margin: 24px 0; }
`;
