# The service alone: no sandbox, no tests, no development tools. TypeScript runs as it is, so nothing is built.

FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# TypeScript is an optional peer of viem, for its types only.
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force && rm -r node_modules/typescript node_modules/@typescript

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 OPERATIONS_PORT=3001 DATA_DIR=/data
WORKDIR /app
# The embedded event store lives in /data; with EVENTSTORE_URL set nothing of value does.
RUN install --directory --owner=node --group=node --mode=0700 /data
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY contracts/evm/artifacts contracts/evm/artifacts
COPY contracts/stellar/artifacts contracts/stellar/artifacts
COPY domain domain
COPY commands commands
COPY projections projections
COPY queries queries
COPY src src
COPY tools tools
COPY web web
COPY docs/images docs/images
COPY docs/start docs/start
COPY docs/integrate docs/integrate
COPY docs/reference docs/reference
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=5s --timeout=3s --start-period=120s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.OPERATIONS_PORT + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# main.ts handles SIGTERM itself: no init process is needed. What a request makes is dead when it is answered: in a larger
# young generation the collector hardly ever has to copy it. What lives on is collected before it has grown by more than half.
CMD ["node", "--max-semi-space-size=32", "--heap-growing-percent=50", "src/main.ts"]
