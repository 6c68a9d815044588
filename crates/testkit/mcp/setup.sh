#!/bin/bash
# Installs the reference client of the Model Context Protocol once for each state of package-lock.json, outside the work tree,
# and links node_modules to it. Needs Node 18 or later and npm, and the npm registry, or a filled npm cache.
set -euo pipefail
cd "$(dirname "$0")"
cache=${MCP_CACHE:-/var/cache/local-mcp}/$(sha256sum package.json package-lock.json | sha256sum | cut -c1-16)
if [ ! -e "$cache/ok" ]; then
  rm -rf "$cache"
  mkdir -p "$cache"
  cp package.json package-lock.json "$cache"
  (cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
  touch "$cache/ok"
fi
ln -sfn "$cache/node_modules" node_modules
