# Images of a worker, not run as root; how they are operated: docs/operate.md.
#   docker build --target worker -t everturn:0.1.0-worker .          for inference servers: no model runs in the worker itself
#   docker build --target worker-cpu -t everturn:0.1.0-worker-cpu .  for embedded models too, with the one that ships
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY . .
# No script of a dependency is needed: onnxruntime-node's would download libraries for GPUs from elsewhere.
RUN npm ci --ignore-scripts && npm run build && npm prune --omit=dev --ignore-scripts
# Packages that bring a native library for each platform: a container needs its own. onnxruntime-web is for browsers, and the
# judge is in dist.
RUN rm -rf node_modules/onnxruntime-web node_modules/@everturn && cd node_modules \
  && find @temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 -type d ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} + \
  && find onnxruntime-node/bin/napi-v6 -mindepth 2 -maxdepth 2 ! -path "*/linux/$(node -p process.arch)" -exec rm -rf {} + \
  && find tokenizers -name '*.node' ! -name "tokenizers.linux-$(node -p process.arch)-gnu.node" -delete

FROM build AS build-without-models
RUN cd node_modules && rm -rf @huggingface/transformers @huggingface/tokenizers onnxruntime-node onnxruntime-common sharp @img

FROM node:22-bookworm-slim AS base
# CA certificates: TLS to a cluster or a hub. bubblewrap: the sandbox of code that models write (docs/sandbox.md). Python with its whole
# library: tools of a Python file.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates bubblewrap python3 tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
COPY --from=build /app/python ./python
ENV EVERTURN_HOME=/tmp/everturn HOME=/tmp
USER 1000:1000
ENTRYPOINT ["tini", "--", "node", "/app/dist/cli/index.js"]
CMD ["worker", "--health-port", "9000"]

FROM base AS worker
COPY --from=build-without-models /app/node_modules ./node_modules

FROM base AS worker-cpu
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/models/tiny ./models/tiny
COPY --from=build /app/models/scripted ./models/scripted
