#!/usr/bin/env bash
# Gets the runtimes that runtimes.test.ts drives into a folder, as install/package.json names them (about a gigabyte;
# Linux on x64). Their packages carry the binaries themselves, so that no install script has to run.
set -euo pipefail
folder="${1:?the folder to put the runtimes into}"
mkdir -p "$folder"
cp "$(dirname "$0")"/install/package.json "$(dirname "$0")"/install/package-lock.json "$folder"
# Not `npm ci`: the lock file names the packages of one platform, and `npm ci` wants those of all.
npm install --prefix "$folder" --no-save --ignore-scripts --no-audit --no-fund
