# An image of a worker, not run as root. `docker build -t everturn .`; how it is operated: docs/cluster.md.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY . .
# No script of a dependency is needed: onnxruntime-node's would download libraries for GPUs from elsewhere.
# The SDK brings a native library for each platform; a container needs its own.
RUN npm ci --ignore-scripts && npm run build && npm prune --omit=dev --ignore-scripts \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 -type d ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} +

FROM node:22-bookworm-slim
# CA certificates: TLS to a cluster or a hub. bubblewrap: the sandbox of code that models write (docs/sandbox.md).
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates bubblewrap python3-minimal tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/models/tiny ./models/tiny
ENV EVERTURN_HOME=/tmp/everturn HOME=/tmp
USER 1000:1000
ENTRYPOINT ["tini", "--", "node", "/app/dist/cli/index.js"]
CMD ["worker", "--health-port", "9000"]
