# The image of svc: what npm would publish, beside the dependencies that it needs to run.
#   docker build -t svc .
#   docker run -p 127.0.0.1:8080:8080 -v svc:/var/lib/svc/.svc svc      # its log shows the first access token, once
# Several machines, with PostgreSQL: compose.yaml and docs/operating.md.

# A Debian with Node 26: connectors are walled in by its permission model, and DuckDB's library needs glibc.
ARG NODE_IMAGE=node:26-trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
# The dependencies change less often than the sources: a layer of their own.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build \
  && npm run pack -- /packed none \
  && mkdir /app \
  && tar -xzf /packed/svc-connectors-*.tgz -C /app --strip-components=1 \
  # Node is in the image already.
  && npm prune --omit=dev --omit=optional --ignore-scripts \
  && rm -rf node_modules/.bin \
  && mv node_modules /app/

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
COPY --from=build /app /app
RUN ln -s /app/bin/svc /usr/local/bin/svc \
  && install -d -o node -g node -m 0700 /var/lib/svc /var/lib/svc/.svc /var/lib/svc/secrets
# Files that a user of the container changes are here and nowhere else; svc.config.yaml is read from here.
WORKDIR /var/lib/svc
USER node
VOLUME /var/lib/svc/.svc
EXPOSE 8080
ENTRYPOINT ["svc"]
# Only what is published of the port can be reached. Put something that has TLS in front of it, or set server.tls.
CMD ["serve", "--host", "0.0.0.0", "--insecure-public"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
