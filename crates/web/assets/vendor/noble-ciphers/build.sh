#!/bin/sh
# Makes noble-ciphers.js anew from the package: XChaCha20-Poly1305 alone, as one module.
set -eu
cd "$(dirname "$0")"
npm ci --no-audit --no-fund --loglevel=error
{
  echo '/*! @noble/ciphers 2.4.0 (XChaCha20-Poly1305), MIT License, (c) 2022 Paul Miller; see LICENSE beside it. */'
  echo 'export { xchacha20poly1305 } from "@noble/ciphers/chacha.js";' |
    npx esbuild --bundle --minify --format=esm --target=es2020 --legal-comments=none
} >noble-ciphers.js
rm -rf node_modules
